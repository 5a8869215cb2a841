// Where a script of this folder writes to. It removes what is there first, so the folder must be its own, or empty.

import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';

/** The folder that was named, or the usual one; a folder of somebody else's files ends the process. */
export function targetFolder(named, usual) {
  const target = named === undefined ? usual : resolve(named);
  if (target !== usual && existsSync(target) && readdirSync(target).length > 0) {
    console.error(`${target} is not empty. Name an empty folder, or none for ${usual}.`);
    process.exit(1);
  }
  return target;
}
