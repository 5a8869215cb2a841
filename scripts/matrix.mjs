/**
 * `npm run test:matrix`: the whole fault matrix, its result as JSON, and the tables of docs/failure-modes.md.
 *
 *   npm run test:matrix              run every cell, then write results and tables
 *   npm run test:matrix -- discover  find the effects anew and write the list that the cells are made of
 *   npm run test:matrix -- tables    only write the tables, from the last results
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeTables } from './matrix-tables.mjs';

const report = 'test-results/matrix.json';
const results = 'test/fault/matrix/results.json';
const vitest = 'node_modules/vitest/vitest.mjs';

function runTests(mode, ...args) {
  const env = { ...process.env, MATRIX: mode };
  return spawnSync(process.execPath, [vitest, 'run', ...args], { stdio: 'inherit', env }).status ?? 1;
}

const cellTitle = /^(.+?): (\S+) → (\S+), (.+) keeps all invariants$/;

/** Cells by scenario and way, and the single scenarios by file. */
function summarize({ testResults }) {
  const cells = {};
  const single = {};
  for (const { name, assertionResults } of testResults) {
    const file = name.replaceAll('\\', '/').replace(/^.*\/test\//, 'test/');
    for (const { title, status } of assertionResults) {
      const cell = cellTitle.exec(title);
      if (cell === null) (single[file] ??= []).push({ title, held: status === 'passed' });
      else countCell(((cells[cell[1]] ??= {})[cell[4]] ??= { held: 0, broken: [] }), cell, status);
    }
  }
  return { cells, single: Object.fromEntries(Object.entries(single).sort()) };
}

function countCell(count, [, , first, second], status) {
  if (status === 'passed') count.held += 1;
  else count.broken.push(`${first} → ${second}`);
}

async function runAll() {
  mkdirSync('test-results', { recursive: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const status = runTests('full', 'test/fault/matrix', ...reporters);
  const summary = summarize(JSON.parse(readFileSync(report, 'utf8')));
  writeFileSync(results, `${JSON.stringify(summary, null, 2)}\n`);
  await writeTables();
  return status;
}

const [verb = 'all'] = process.argv.slice(2);
switch (verb) {
  case 'all':
    process.exitCode = await runAll();
    break;
  case 'discover':
    process.exitCode = runTests('discover', 'test/fault/matrix/effects.test.ts');
    break;
  case 'tables':
    await writeTables();
    break;
  default:
    console.error(`"${verb}" is not known. Use discover, tables, or nothing for the whole matrix.`);
    process.exitCode = 2;
}
