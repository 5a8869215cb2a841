/** Where things lie in the project, found from this file, whether it runs from dist/ or from its source. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the project's package.json. */
export function findProjectRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json found above ${import.meta.dirname}.`);
    folder = parent;
  }
  return folder;
}

/** The built entry of a part's process. */
export function findPartEntry(root: string): string {
  const entry = join(root, 'dist', 'local', 'part.js');
  if (!existsSync(entry)) throw new Error(`${entry} is missing. Build the project first: npm run build`);
  return entry;
}

/** The text of a file in UTF-8, with or without a byte order mark. */
function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasMark || (bytes.length > 1 && (first === 0 || second === 0))) {
    throw new Error('the file is UTF-16, as older PowerShells write it with ">". Save it as UTF-8.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // It removes the mark.
  } catch {
    throw new Error('the file is not UTF-8. Save it as UTF-8.');
  }
}

/** Reads a JSON file in UTF-8; an error names the file and what it is for. */
export function readJsonFile(path: string, purpose: string): unknown {
  let text: string;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    throw new Error(`Cannot read ${purpose} from ${path}: ${String(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} (${purpose}) is not valid JSON: ${String(error)}`, { cause: error });
  }
}
