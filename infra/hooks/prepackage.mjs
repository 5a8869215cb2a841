// Before packaging: checks and bundles the app, stages what runs, loads the staged package once and notes which functions it registers.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HookError, runHook } from './azd.mjs';

const root = resolve(import.meta.dirname, '..', '..');

await runHook(() => {
  runNode('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
  runNode('infra/package/bundle.mjs');
  runNode('infra/package/stage.mjs');
  const names = runNode('infra/package/list-functions.mjs', '.local/package');
  writeFileSync(join(root, '.local', 'functions.json'), names);
  console.log(`The package registers ${JSON.parse(names).length} functions.`);
});

/** Runs a script of the project with this Node, without a shell, and returns what it printed. */
function runNode(script, ...args) {
  const command = [join(root, script), ...args];
  const { status, stdout } = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new HookError(`${script} failed.\n${stdout}`);
  return stdout;
}
