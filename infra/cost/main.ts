/** `npm run cost -- --orders 1e6 --steps 3`: what a month costs, from counts per order and a price list. */
import { readFile } from 'node:fs/promises';
import { parseArguments, usage } from './arguments.js';
import { countsSchema, pricesSchema } from './inputs.js';
import { monthlyCost } from './model.js';
import { costReport } from './report.js';

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'));
}

try {
  const { question, countsFile } = parseArguments(process.argv.slice(2));
  const prices = pricesSchema.parse(await readJson('infra/cost/prices.json'));
  const counts = countsSchema.parse(await readJson(countsFile ?? 'infra/cost/counts.json'));
  const lines = monthlyCost(question, counts, prices);
  process.stdout.write(`${costReport(lines, question, counts, prices)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
  process.exitCode = 1;
}
