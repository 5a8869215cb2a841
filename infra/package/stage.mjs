// Stages the deployment package: `node infra/package/stage.mjs [folder]`, after `npm run build`.
//
// P1  The package holds exactly what runs: host.json, the bundled app and a package.json that names its entry.
// P2  It is the same from every machine: nothing is downloaded and no part is native.
// P3  DURABLE_BACKEND chooses host.json, because the scale controller does not see settings that override it.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { targetFolder } from './target-folder.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const hostFiles = { AzureStorage: 'host.json', DurableTaskScheduler: 'host.dts.json' };

const hostFile = hostFiles[process.env.DURABLE_BACKEND || 'AzureStorage'];
if (hostFile === undefined) {
  stop(`DURABLE_BACKEND must be one of ${Object.keys(hostFiles).join(', ')}.`);
}
const { name, version, private: isPrivate, type, main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (!existsSync(join(root, main))) stop('There is no bundled app; run "npm run build" first.');

const target = targetFolder(process.argv[2], join(root, '.local', 'package'));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(join(root, hostFile), join(target, 'host.json'));
// P1: without dependencies, so that nothing installs what the bundle already holds.
const manifest = { name, version, private: isPrivate, type, main };
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync(join(root, dirname(main)), join(target, dirname(main)), { recursive: true });
console.log(`Staged ${target} with ${hostFile}.`);

function stop(message) {
  console.error(message);
  process.exit(1);
}
