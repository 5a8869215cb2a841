/** The app as it was before workflow version 2 came: a build of its own, made from today's. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProjectRoot } from '../../local/project.js';

const copied = ['host.json', 'local.settings.sample.json', 'dist/functions'];

/** A folder that a Functions host can load; `remove` deletes it. */
export function createEarlierBuild(): { readonly appDirectory: string; readonly remove: () => void } {
  const root = findProjectRoot();
  const appDirectory = mkdtempSync(join(tmpdir(), 'earlier-build-'));
  for (const name of copied) cpSync(join(root, name), join(appDirectory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(appDirectory, 'node_modules'));
  writeFileSync(
    join(appDirectory, 'package.json'),
    JSON.stringify({ type: 'module', main: 'dist/functions/index.js' }),
  );
  forgetVersion2(join(appDirectory, 'dist', 'functions', 'state', 'order-workflow.js'));
  return {
    appDirectory,
    remove: () => {
      rmSync(appDirectory, { recursive: true, force: true });
    },
  };
}

function forgetVersion2(file: string): void {
  const text = readFileSync(file, 'utf8');
  const earlier = text.replace(/^.*\{ version: 2, .*\n/m, '');
  if (earlier === text) throw new Error(`${file} has no line for workflow version 2`);
  writeFileSync(file, earlier);
}
