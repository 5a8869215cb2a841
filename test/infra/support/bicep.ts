import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const projectRoot = resolve(import.meta.dirname, '..', '..', '..');

/** How a command ended. */
export interface CommandResult {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs one of the project's Node scripts. */
export function runScript(
  script: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectRoot, script), ...args], {
    cwd: projectRoot,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, output: stdout, errors: stderr };
}

/** Runs the Bicep CLI, wherever it is installed. */
export function bicep(...args: readonly string[]): CommandResult {
  return runScript('infra/checks/bicep.mjs', args);
}

/** What a suite that needs the Bicep CLI is called: without the CLI it says why it is skipped and what to run. */
export function needsBicep(title: string, isMissing: boolean): string {
  return isMissing ? `${title} (skipped: run "bash .ci/install-bicep" or "az bicep install")` : title;
}

/** Predicts the resources of a deployment with these parameters; `values` are lines of a .bicepparam file. */
export function predict(name: string, values: readonly string[]): CommandResult {
  const folder = join(projectRoot, '.local', 'infra-tests');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.bicepparam`);
  const required = ["param environmentName = 'test'", "param location = 'westeurope'"];
  const named = (line: string): string => line.split('=')[0] ?? '';
  const kept = required.filter((line) => !values.some((value) => named(value) === named(line)));
  writeFileSync(file, [`using '../../infra/main.bicep'`, ...kept, ...values].join('\n'));
  const scope = ['--subscription-id', '00000000-0000-0000-0000-000000000001', '--deployment-name', 'test'];
  return bicep('snapshot', file, '--mode', 'overwrite', ...scope);
}
