import { z } from 'zod';

const amount = z.number().min(0);

/** infra/cost/prices.json. */
export const pricesSchema = z.object({
  lastChecked: z.iso.date(),
  source: z.string(),
  currency: z.string(),
  serviceBusStandard: z.object({
    hour: amount,
    includedOperations: amount,
    perMillionOperations: z.array(z.object({ upTo: amount.nullable(), price: amount })),
  }),
  serviceBusPremium: z.object({ unitMonth: amount }),
  cosmosServerless: z.object({ perMillionRequestUnits: amount, gigabyteMonth: amount }),
  cosmosAutoscale: z.object({ per100RequestUnitsHour: amount, gigabyteMonth: amount }),
  functionsFlex: z.object({
    perMillionExecutions: amount,
    includedExecutions: amount,
    gigabyteSecond: amount,
    includedGigabyteSeconds: amount,
    alwaysReadyGigabyteSecond: amount,
    minimumExecutionSeconds: amount,
  }),
  storage: z.object({ per10000Transactions: amount }),
  logs: z.object({ gigabyte: amount, includedGigabytes: amount }),
});

/** What one order takes: infra/cost/counts.json, or the output of a benchmark in the same form. */
export const countsSchema = z.object({
  source: z.string(),
  steps: z.int().min(1),
  perOrder: z.object({
    serviceBusOperations: amount,
    requestUnits: amount,
    /** The audit reads each record once after its last change, a page at a time. */
    auditRequestUnits: amount,
    executions: amount,
    storageTransactions: amount,
    logKilobytes: amount,
    storedKilobytes: amount,
  }),
  /** What a run of these timers costs that finds nothing to do. */
  requestUnitsPerRun: z.object({ starter: amount, supervisor: amount, audit: amount }),
});

export type Prices = z.infer<typeof pricesSchema>;
export type Counts = z.infer<typeof countsSchema>;
export type PerOrder = Counts['perOrder'];

/** What is asked on the command line. */
export interface Question {
  readonly orders: number;
  readonly steps: number;
  readonly memoryMegabytes: number;
  readonly alwaysReady: number;
  readonly starterSeconds: number;
  readonly supervisorSeconds: number;
  readonly premiumUnits: number;
  readonly autoscaleRequestUnits: number;
  readonly retentionMonths: number;
}
