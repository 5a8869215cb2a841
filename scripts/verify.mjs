/**
 * `npm run verify`: everything the gate checks, in its order, by the same commands a developer uses.
 * Ends with the plain line `Tests: N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..')); // Whatever folder it was called from.

const report = 'test-results/vitest.json';

function npmRun(...args) {
  const npm = process.env.npm_execpath;
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  console.log(`\n> npm ${args.join(' ')}`);
  return spawnSync(command, [...first, ...args], { stdio: 'inherit' }).status ?? 1;
}

function countTests() {
  try {
    const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, success };
  } catch {
    return { passed: 0, failed: 0, success: false };
  }
}

mkdirSync('test-results', { recursive: true });
rmSync(report, { force: true });

const failedChecks = ['lint', 'format:check', 'typecheck', 'boundaries', 'docs:check'].filter(
  (check) => npmRun('run', '--silent', check) !== 0,
);
npmRun('test', '--silent', '--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
const { passed, failed, success } = countTests();

if (failedChecks.length > 0) console.error(`\nFailed checks: ${failedChecks.join(', ')}`);
console.log(`\nTests: ${passed} passed, ${failed} failed`);
process.exitCode = failedChecks.length === 0 && success ? 0 : 1;
