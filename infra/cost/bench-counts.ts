/** Counts per order out of `npm run bench`. What the bench cannot see stays as estimated. */
import { z } from 'zod';
import type { Counts, PerOrder } from './inputs.js';

const benchSchema = z.object({
  rows: z
    .array(z.object({ inFlight: z.number(), perOrder: z.record(z.string(), z.number()) }))
    .min(1, 'the bench has measured nothing'),
});

/** Timers run whether there are orders or not; the demo remote services stand for somebody else's. */
const notOfAnOrder = /^(starter|supervisor|supervisor-audit|history-purge|demo-.*)$/;
const orderContainers = ['orders', 'order-state'];

/** True for the output of a bench, false for a counts file. */
export function isBenchResult(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'rows' in value;
}

/** The counts at the highest load that was measured: there polling weighs least on a single order. */
export function countsFromBench(bench: unknown, file: string, estimates: Counts): Counts {
  const { rows } = benchSchema.parse(bench);
  const row = rows.reduce((most, other) => (other.inFlight > most.inFlight ? other : most));
  const measured: Pick<PerOrder, 'serviceBusOperations' | 'requestUnits' | 'executions'> = {
    serviceBusOperations: (row.perOrder['service-bus/sends'] ?? 0) + (row.perOrder['service-bus/receives'] ?? 0),
    requestUnits: sum(orderContainers.map((name) => row.perOrder[`cosmos-db/${name}/modelledRequestUnits`] ?? 0)),
    executions: sum(
      Object.entries(row.perOrder)
        .map(([name, count]) => [name.split('functions-host/invocations.')[1], count] as const)
        .map(([name, count]) => (name === undefined || notOfAnOrder.test(name) ? 0 : count)),
    ),
  };
  return {
    source: `${file} at ${row.inFlight} in flight, request units modelled; the rest: ${estimates.source}`,
    steps: estimates.steps,
    requestUnitsPerRun: estimates.requestUnitsPerRun,
    perOrder: { ...estimates.perOrder, ...measured },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
