/**
 * `npm run test:matrix`: the whole fault matrix, its result as JSON, and the tables of docs/failure-modes.md.
 *
 *   npm run test:matrix              run every cell, then the single scenarios; write results and tables
 *   npm run test:matrix -- cells     only the cells; with the name of a scenario behind it, only those of that one
 *   npm run test:matrix -- single    only the single scenarios
 *   npm run test:matrix -- discover  find the effects anew and write the list that the cells are made of
 *   npm run test:matrix -- tables    only write the tables, from the last results
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { writeTables } from './matrix-tables.mjs';

const report = 'test-results/matrix.json';
const folder = 'test/fault/matrix';
const results = `${folder}/results.json`;
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

/** One after the other: cells in several worlds at once keep the machine busy enough. */
const files = {
  cells: [`${folder}/matrix.test.ts`],
  single: [folder, '--exclude', `${folder}/matrix.test.ts`, '--no-file-parallelism'],
};

function pick(cells, scenario) {
  if (Object.hasOwn(cells, scenario)) return { [scenario]: cells[scenario] };
  console.error(`There is no scenario "${scenario}". There are: ${Object.keys(cells).join(' · ')}`);
  process.exit(2);
}

async function run(halves, scenario) {
  mkdirSync('test-results', { recursive: true });
  let failures = 0;
  for (const half of halves) {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const filter = scenario === undefined ? [] : ['-t', ` ${scenario}: `];
    failures += runTests('full', ...files[half], ...reporters, ...filter);
    const found = summarize(JSON.parse(readFileSync(report, 'utf8')));
    const earlier = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { cells: {}, single: {} };
    const fresh = scenario === undefined ? found[half] : { ...earlier[half], ...pick(found[half], scenario) };
    const json = JSON.stringify({ ...earlier, [half]: fresh });
    writeFileSync(results, await format(json, { ...(await resolveConfig(results)), parser: 'json' }));
  }
  await writeTables();
  return failures;
}

const [verb = 'all', scenario] = process.argv.slice(2);
switch (verb) {
  case 'all':
    process.exitCode = await run(['cells', 'single']);
    break;
  case 'cells':
    process.exitCode = await run([verb], scenario);
    break;
  case 'single':
    process.exitCode = await run([verb]);
    break;
  case 'discover':
    process.exitCode = runTests('discover', `${folder}/effects.test.ts`);
    break;
  case 'tables':
    await writeTables();
    break;
  default:
    console.error(`"${verb}" is not known. Use cells, single, discover, tables, or nothing for the whole matrix.`);
    process.exitCode = 2;
}
