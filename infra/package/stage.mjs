// Stages the deployment package: `node infra/package/stage.mjs [folder]`, after `npm run build`.
//
// P1  The package holds exactly what runs: host.json, package files, the compiled app, production dependencies as locked.
// P2  It is the same from every machine: nothing is downloaded and no dependency has a native part.
// P3  DURABLE_BACKEND chooses host.json, because the scale controller does not see settings that override it.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const target = resolve(process.argv[2] ?? join(root, '.local', 'package'));
const hostFiles = { AzureStorage: 'host.json', DurableTaskScheduler: 'host.dts.json' };
const notNeededToRun = /\.(d\.[cm]?ts|[cm]?js\.map|tsbuildinfo|md|markdown)$/i;
const forOtherRuntimes = /[\\/]dist[\\/](browser|react-native|workerd)$/;

const hostFile = hostFiles[process.env.DURABLE_BACKEND || 'AzureStorage'];
if (hostFile === undefined) {
  stop(`DURABLE_BACKEND must be one of ${Object.keys(hostFiles).join(', ')}.`);
}
if (!existsSync(join(root, 'dist', 'functions', 'index.js')))
  stop('There is no compiled app; run "npm run build" first.');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(join(root, hostFile), join(target, 'host.json'));
for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, file), join(target, file));
cpSync(join(root, 'dist', 'functions'), join(target, 'dist', 'functions'), { recursive: true });
for (const folder of productionDependencies()) copyDependency(folder);
console.log(`Staged ${target} with ${hostFile}.`);

/** Folders below the root, e.g. `node_modules/zod`, that the lockfile needs at run time. */
function productionDependencies() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const needed = Object.entries(packages).filter(
    ([folder, entry]) => folder !== '' && !entry.dev && !entry.devOptional,
  );
  const native = needed.filter(([, entry]) => entry.os || entry.cpu).map(([folder]) => folder);
  // P2: a native part would be built for this machine, not for the one in Azure.
  if (native.length > 0) stop(`These dependencies are native: ${native.join(', ')}. Use remoteBuild, or replace them.`);
  return needed.map(([folder]) => folder);
}

function copyDependency(folder) {
  const source = join(root, folder);
  if (!existsSync(source)) stop(`${folder} is not installed; run "npm ci" first.`);
  cpSync(source, join(target, folder), {
    recursive: true,
    // Nested dependencies have entries of their own in the lockfile.
    filter: (path) => path === source || isNeededToRun(path),
  });
}

function isNeededToRun(path) {
  return basename(path) !== 'node_modules' && !notNeededToRun.test(path) && !forOtherRuntimes.test(path);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
