/**
 * What a month of orders costs. Every line has a low and a high end: what is billed for a short execution depends on how many
 * run beside it, and nothing but the bill tells.
 *
 * Invariants
 * K1 A price stands in prices.json and nowhere else, a count per order in the counts file and nowhere else.
 * K2 What costs without any order is a line of its own.
 */
import type { Counts, PerOrder, Prices, Question } from './inputs.js';

/** One line of the bill. */
export interface CostLine {
  readonly name: string;
  readonly quantity: string;
  readonly low: number;
  readonly high: number;
}

const monthHours = 730;
const monthSeconds = monthHours * 3600;
const million = 1e6;

/** Of these counts one order without any step has: its own message and two statuses, two creates and the claim, submit and the first turn. */
const withoutSteps: PerOrder = {
  serviceBusOperations: 6,
  requestUnits: 30,
  auditRequestUnits: 0.3,
  executions: 4,
  storageTransactions: 15,
  logKilobytes: 5,
  storedKilobytes: 2,
};

/** An execution alone on an instance is billed the minimum; among others it takes its own run time. */
const busyExecutionSeconds = 0.02;

/** A host that runs polls the queues of the task hub, and renews leases, this often: measured on host 4.1037 with Azurite. */
const pollsPerSecond = 3.7;
const idleStorageTransactions = pollsPerSecond * monthSeconds;

/** The counts for another number of steps, in proportion to what each step adds. */
export function countsFor(steps: number, { steps: measured, perOrder }: Counts): PerOrder {
  const scaled = Object.entries(perOrder).map(([name, total]) => {
    const base = Math.min(total, withoutSteps[name as keyof PerOrder]);
    return [name, base + ((total - base) * steps) / measured];
  });
  return Object.fromEntries(scaled) as PerOrder;
}

/** The bill of a month, line by line. */
export function monthlyCost(question: Question, counts: Counts, prices: Prices): readonly CostLine[] {
  const perOrder = countsFor(question.steps, counts);
  return [
    serviceBusLine(question, perOrder, prices),
    cosmosLine(question, perOrder, prices),
    ...idleQueriesLine(question, counts, prices),
    executionsLine(question, perOrder, prices),
    computeLine(question, perOrder, prices),
    timersLine(question, prices),
    ...alwaysReadyLine(question, prices),
    storageLine(question, perOrder, prices),
    logsLine(question, perOrder, prices),
  ];
}

function exactly(name: string, quantity: string, cost: number): CostLine {
  return { name, quantity, low: cost, high: cost };
}

function serviceBusLine({ orders, premiumUnits }: Question, perOrder: PerOrder, prices: Prices): CostLine {
  if (premiumUnits > 0) {
    const cost = premiumUnits * prices.serviceBusPremium.unitMonth;
    return exactly('Service Bus Premium', `${premiumUnits} unit(s)`, cost);
  }
  const { hour, includedOperations, perMillionOperations } = prices.serviceBusStandard;
  const operations = orders * perOrder.serviceBusOperations;
  let cost = hour * monthHours;
  let paidUpTo = includedOperations;
  for (const { upTo, price } of perMillionOperations) {
    const inTier = Math.max(0, Math.min(operations, upTo ?? Infinity) - paidUpTo);
    cost += (inTier / million) * price;
    paidUpTo = Math.max(paidUpTo, upTo ?? Infinity);
  }
  return exactly('Service Bus Standard', `${millions(operations)} operations`, cost);
}

function cosmosLine(question: Question, perOrder: PerOrder, prices: Prices): CostLine {
  const { orders, retentionMonths, autoscaleRequestUnits } = question;
  const gigabytes = (orders * perOrder.storedKilobytes * retentionMonths) / million;
  if (autoscaleRequestUnits > 0) {
    const { per100RequestUnitsHour, gigabyteMonth } = prices.cosmosAutoscale;
    const full = (autoscaleRequestUnits / 100) * per100RequestUnitsHour * monthHours;
    const stored = gigabytes * gigabyteMonth;
    // Autoscale never bills less than a tenth.
    return {
      name: 'Cosmos DB autoscale',
      quantity: `${autoscaleRequestUnits} RU/s`,
      low: full / 10 + stored,
      high: full + stored,
    };
  }
  const { perMillionRequestUnits, gigabyteMonth } = prices.cosmosServerless;
  const requestUnits = orders * (perOrder.requestUnits + perOrder.auditRequestUnits);
  const cost = (requestUnits / million) * perMillionRequestUnits + gigabytes * gigabyteMonth;
  return exactly('Cosmos DB serverless', `${millions(requestUnits)} RU, ${gigabytes.toFixed(1)} GB`, cost);
}

// K2. With autoscale these request units are part of what is bought anyway.
function idleQueriesLine(question: Question, { requestUnitsPerRun }: Counts, prices: Prices): readonly CostLine[] {
  if (question.autoscaleRequestUnits > 0) return [];
  const requestUnits =
    (monthSeconds / question.starterSeconds) * requestUnitsPerRun.starter +
    (monthSeconds / question.supervisorSeconds) * requestUnitsPerRun.supervisor +
    monthHours * requestUnitsPerRun.audit;
  const cost = (requestUnits / million) * prices.cosmosServerless.perMillionRequestUnits;
  return [exactly('Timers: queries', `${millions(requestUnits)} RU`, cost)];
}

function executionsLine({ orders }: Question, perOrder: PerOrder, { functionsFlex }: Prices): CostLine {
  const executions = orders * perOrder.executions;
  const billed = Math.max(0, executions - functionsFlex.includedExecutions);
  return exactly('Functions executions', millions(executions), (billed / million) * functionsFlex.perMillionExecutions);
}

function computeLine(question: Question, perOrder: PerOrder, { functionsFlex }: Prices): CostLine {
  const executions = question.orders * perOrder.executions;
  const gigabytes = question.memoryMegabytes / 1024;
  const cost = (seconds: number): number =>
    Math.max(0, executions * seconds * gigabytes - functionsFlex.includedGigabyteSeconds) *
    functionsFlex.gigabyteSecond;
  const low = cost(busyExecutionSeconds);
  const high = cost(functionsFlex.minimumExecutionSeconds);
  return { name: 'Functions compute', quantity: `${question.memoryMegabytes} MB instances`, low, high };
}

// K2
function timersLine(question: Question, { functionsFlex }: Prices): CostLine {
  const runs = monthSeconds / question.starterSeconds + monthSeconds / question.supervisorSeconds;
  const seconds = runs * functionsFlex.minimumExecutionSeconds;
  const compute = seconds * (question.memoryMegabytes / 1024) * functionsFlex.gigabyteSecond;
  return exactly(
    'Timers: executions',
    `${millions(runs)} runs`,
    compute + (runs / million) * functionsFlex.perMillionExecutions,
  );
}

function alwaysReadyLine({ alwaysReady, memoryMegabytes }: Question, { functionsFlex }: Prices): readonly CostLine[] {
  if (alwaysReady === 0) return [];
  const gigabyteSeconds = alwaysReady * (memoryMegabytes / 1024) * monthSeconds;
  const cost = gigabyteSeconds * functionsFlex.alwaysReadyGigabyteSecond;
  return [exactly('Always-ready instances', `${alwaysReady}`, cost)];
}

function storageLine({ orders }: Question, perOrder: PerOrder, { storage }: Prices): CostLine {
  const transactions = orders * perOrder.storageTransactions + idleStorageTransactions;
  return exactly(
    'Storage (task hub)',
    `${millions(transactions)} transactions`,
    (transactions / 10_000) * storage.per10000Transactions,
  );
}

function logsLine({ orders }: Question, perOrder: PerOrder, { logs }: Prices): CostLine {
  const gigabytes = (orders * perOrder.logKilobytes) / million;
  const cost = Math.max(0, gigabytes - logs.includedGigabytes) * logs.gigabyte;
  return exactly('Logs', `${gigabytes.toFixed(1)} GB`, cost);
}

function millions(count: number): string {
  return `${(count / million).toFixed(count < 10 * million ? 2 : 0)} M`;
}
