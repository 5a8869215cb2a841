import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../infra/cost/arguments.js';
import { countsFromBench, isBenchResult } from '../../infra/cost/bench-counts.js';
import { countsSchema, pricesSchema } from '../../infra/cost/inputs.js';
import { countsFor, monthlyCost } from '../../infra/cost/model.js';
import type { CostLine } from '../../infra/cost/model.js';
import { costReport } from '../../infra/cost/report.js';
import { projectRoot } from './support/bicep.js';

function read(file: string): unknown {
  return JSON.parse(readFileSync(join(projectRoot, 'infra', 'cost', file), 'utf8'));
}

const prices = pricesSchema.parse(read('prices.json'));
const counts = countsSchema.parse(read('counts.json'));

function linesFor(...args: readonly string[]): ReadonlyMap<string, CostLine> {
  const lines = monthlyCost(parseArguments(args).question, counts, prices);
  return new Map(lines.map((line) => [line.name, line]));
}

describe('the cost of a month', () => {
  it('without an order is the namespace, the timers and the polled task hub (K2)', () => {
    const lines = linesFor('--orders', '0', '--memory', '512');
    const costly = [...lines.values()].filter((line) => line.high > 0).map((line) => line.name);
    expect(costly.sort()).toEqual([
      'Service Bus Standard',
      'Storage (task hub)',
      'Timers: executions',
      'Timers: queries',
    ]);
    expect(lines.get('Service Bus Standard')?.high).toBeCloseTo(9.855, 3);
    // 262 800 runs of the starter and 87 600 of the supervisor, half a gigabyte-second each.
    expect(lines.get('Timers: executions')?.high).toBeCloseTo(175_200 * 0.000026 + 0.3504 * 0.4, 3);
  });

  it('counts what the timers ask of the store, and what the audit reads of each order', () => {
    const idle = 262_800 * 30 + 87_600 * 28 + 730 * 3;
    expect(linesFor('--orders', '0').get('Timers: queries')?.high).toBeCloseTo((idle / 1e6) * 0.25, 3);
    const cosmos = linesFor('--orders', '1e6', '--retention-months', '0').get('Cosmos DB serverless');
    expect(cosmos?.high).toBeCloseTo((counts.perOrder.requestUnits + 0.5) * 0.25, 3);
    expect(linesFor('--autoscale', '4000').has('Timers: queries')).toBe(false);
  });

  it('charges Service Bus in tiers above the included operations', () => {
    const base = 9.855;
    const million = (orders: string): number => linesFor('--orders', orders).get('Service Bus Standard')?.high ?? 0;
    expect(million('9e5')).toBeCloseTo(base, 3);
    expect(million('1e6')).toBeCloseTo(base + 1 * 0.8, 3);
    expect(million('1e7')).toBeCloseTo(base + 87 * 0.8 + 40 * 0.5, 3);
  });

  it('gives compute a range: executions that share an instance, and executions that do not', () => {
    const line = linesFor('--orders', '1e6', '--memory', '512').get('Functions compute');
    expect(line?.low).toBeLessThan(10);
    expect(line?.high).toBeCloseTo((counts.perOrder.executions * 1e6 * 0.5 - 100_000) * 0.000026, 3);
  });

  it('grows with the steps of an order, but not in proportion', () => {
    const three = countsFor(3, counts);
    const six = countsFor(6, counts);
    expect(three).toEqual(counts.perOrder);
    expect(six.serviceBusOperations).toBeGreaterThan(three.serviceBusOperations);
    expect(six.serviceBusOperations).toBeLessThan(2 * three.serviceBusOperations);
  });

  it('can be asked for Premium, autoscale and warm instances', () => {
    const lines = linesFor('--premium', '2', '--autoscale', '4000', '--always-ready', '1', '--orders', '0');
    expect(lines.get('Service Bus Premium')?.high).toBe(2 * 677);
    const cosmos = lines.get('Cosmos DB autoscale');
    expect(cosmos?.high).toBeCloseTo(350.4, 3);
    expect(cosmos?.low).toBeCloseTo(35.04, 3);
    expect(lines.get('Always-ready instances')?.high).toBeCloseTo(2 * 2_628_000 * 0.000004, 3);
  });
});

describe('the counts of a benchmark', () => {
  const bench = {
    rows: [
      { inFlight: 1, perOrder: { 'service-bus/sends': 9 } },
      {
        inFlight: 64,
        perOrder: {
          'service-bus/sends': 7,
          'service-bus/receives': 7,
          'service-bus/settlements': 5,
          'cosmos-db/orders/modelledRequestUnits': 5,
          'cosmos-db/order-state/modelledRequestUnits': 70,
          'cosmos-db/control/modelledRequestUnits': 3,
          'cosmos-db/demo-ledger/modelledRequestUnits': 15,
          'functions-host/invocations.submit': 1,
          'functions-host/invocations.orderOrchestrator': 8,
          'functions-host/invocations.starter': 4,
          'functions-host/invocations.demo-remote': 3,
          'functions-host/orchestrator.turns': 8,
        },
      },
    ],
  };

  it('are taken at the highest load, without timers, demo services and control documents (K1)', () => {
    const { perOrder, source } = countsFromBench(bench, 'bench.json', counts);
    expect(perOrder).toEqual({ ...counts.perOrder, serviceBusOperations: 14, requestUnits: 75, executions: 9 });
    expect(source).toContain('bench.json at 64 in flight');
  });

  it('are told apart from a counts file', () => {
    expect(isBenchResult(bench)).toBe(true);
    expect(isBenchResult(read('counts.json'))).toBe(false);
  });

  it('are refused when nothing was measured', () => {
    expect(() => countsFromBench({ rows: [] }, 'bench.json', counts)).toThrow('the bench has measured nothing');
  });
});

describe('the cost report', () => {
  const { question } = parseArguments(['--orders', '1e6', '--steps', '3']);
  const report = costReport(monthlyCost(question, counts, prices), question, counts, prices);

  it('puts the largest line first and says what dominates', () => {
    const rows = report.split('\n').slice(3);
    expect(rows[0]).toMatch(/^Functions compute/);
    expect(report).toMatch(/Functions compute dominates: up to \d+ % of the bill\./);
  });

  it('says how old its prices are and where its counts come from', () => {
    expect(report).toContain(`Prices last checked ${prices.lastChecked}`);
    expect(report).toContain(counts.source);
  });

  it('totals its lines', () => {
    const lines = monthlyCost(question, counts, prices);
    const total = lines.reduce((sum, line) => sum + line.high, 0).toFixed(2);
    expect(report).toMatch(new RegExp(`^Total .* ${total}$`, 'm'));
  });
});

describe('the arguments of the cost report', () => {
  it.each([
    [['--orders', 'many'], '--orders must be a number of at least 0'],
    [['--steps', '0'], '--steps must be a number of at least 1'],
    [['--memory', '1024'], '--memory must be 512, 2048 or 4096'],
    [['--starter-seconds', '0'], '--starter-seconds must be a number of at least 1'],
    [['--order', '5'], '--order'],
  ])('refuse %j and say what is wrong', (args, message) => {
    expect(() => parseArguments(args)).toThrow(message);
  });

  it('may name the counts that a benchmark measured', () => {
    expect(parseArguments(['--counts', 'test-results/counts.json']).countsFile).toBe('test-results/counts.json');
  });
});
