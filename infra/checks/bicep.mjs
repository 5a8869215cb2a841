// Runs the Bicep CLI wherever it is installed: `node infra/checks/bicep.mjs build infra/main.bicep --stdout`.
// Looks on PATH, then where azd and az keep theirs, then in .local/tools. Exit code 127: not found. `--where` only prints which.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const executable = process.platform === 'win32' ? 'bicep.exe' : 'bicep';
const root = resolve(import.meta.dirname, '..', '..');
const folders = [
  ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
  join(homedir(), '.azd', 'bin'),
  join(homedir(), '.azure', 'bin'),
  join(root, '.local', 'tools'),
];

const bicep = folders.map((folder) => join(folder, executable)).find(isExecutable);
if (bicep === undefined) {
  console.error(
    'The Bicep CLI was not found. Install it with one of: az bicep install · winget install Microsoft.Bicep · ' +
      'brew install azure/bicep/bicep · bash .ci/install-bicep (needs the .NET SDK)',
  );
  process.exit(127);
}
if (process.argv[2] === '--where') {
  console.log(bicep);
  process.exit(0);
}
const { status, error } = spawnSync(bicep, process.argv.slice(2), { stdio: 'inherit' });
if (error !== undefined) throw error;
process.exit(status ?? 1);

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
