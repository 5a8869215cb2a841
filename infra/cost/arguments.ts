import { parseArgs } from 'node:util';
import type { Question } from './inputs.js';

const defaults: Readonly<Record<keyof typeof flags, string>> = {
  orders: '1e6',
  steps: '3',
  memory: '2048',
  'always-ready': '0',
  'starter-seconds': '10',
  'supervisor-seconds': '30',
  premium: '0',
  autoscale: '0',
  'retention-months': '3',
};

const flags = {
  orders: 'orders a month',
  steps: 'steps of an order',
  memory: 'megabytes of an instance: 512, 2048 or 4096',
  'always-ready': 'instances kept warm',
  'starter-seconds': 'interval of the starter',
  'supervisor-seconds': 'interval of the supervisor',
  premium: 'messaging units of Service Bus Premium; 0: Standard',
  autoscale: 'upper RU/s of all Cosmos DB containers; 0: serverless',
  'retention-months': 'how long finished orders are kept',
} as const;

/** What `npm run cost -- …` asks, and the counts file if another one is named. */
export interface CostArguments {
  readonly question: Question;
  readonly countsFile: string | undefined;
}

/** Explains every argument. */
export const usage = [
  'npm run cost -- --orders 1e6 --steps 3 [--counts FILE]',
  ...Object.entries(flags).map(([name, text]) => `  --${name}  ${text} (${defaults[name as keyof typeof flags]})`),
].join('\n');

/** @throws Error that says what is wrong */
export function parseArguments(args: readonly string[]): CostArguments {
  const names = Object.keys(flags) as (keyof typeof flags)[];
  const options = Object.fromEntries([...names, 'counts'].map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ args: [...args], options });
  const number = (name: keyof typeof flags, low: number): number => {
    const value = Number(values[name] ?? defaults[name]);
    if (!(value >= low && value < 1e12)) throw new Error(`--${name} must be a number of at least ${low}.`);
    return value;
  };
  const question = {
    orders: number('orders', 0),
    steps: number('steps', 1),
    memoryMegabytes: number('memory', 512),
    alwaysReady: number('always-ready', 0),
    starterSeconds: number('starter-seconds', 1),
    supervisorSeconds: number('supervisor-seconds', 1),
    premiumUnits: number('premium', 0),
    autoscaleRequestUnits: number('autoscale', 0),
    retentionMonths: number('retention-months', 0),
  };
  if (![512, 2048, 4096].includes(question.memoryMegabytes)) throw new Error('--memory must be 512, 2048 or 4096.');
  return { question, countsFile: values['counts'] };
}
