/** `npm run cost -- --orders 1e6 --steps 3`: what a month costs, from counts per order and a price list. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArguments, usage } from './arguments.js';
import { countsFromBench, isBenchResult } from './bench-counts.js';
import { countsSchema, pricesSchema } from './inputs.js';
import type { Counts } from './inputs.js';
import { monthlyCost } from './model.js';
import { costReport } from './report.js';

const estimatesFile = 'infra/cost/counts.json';
const benchFile = 'test-results/bench.json';

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

async function readCounts(named: string | undefined): Promise<Counts> {
  const estimates = countsSchema.parse(await readJson(estimatesFile));
  const file = named ?? (existsSync(benchFile) ? benchFile : estimatesFile);
  const content = await readJson(file);
  return isBenchResult(content) ? countsFromBench(content, file, estimates) : countsSchema.parse(content);
}

try {
  const { question, countsFile } = parseArguments(process.argv.slice(2));
  const prices = pricesSchema.parse(await readJson('infra/cost/prices.json'));
  const counts = await readCounts(countsFile);
  const lines = monthlyCost(question, counts, prices);
  process.stdout.write(`${costReport(lines, question, counts, prices)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
  process.exitCode = 1;
}
