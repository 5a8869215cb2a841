import { describe, expect, it } from 'vitest';
import { parseDemoOptions } from '../../cli/demo/options.js';
import { sampleOrders } from '../../cli/demo/sample.js';
import type { Ledger, OrderEvidence } from '../../cli/demo/evidence.js';
import { faultScenarios } from '../../cli/demo/faults.js';
import type { BreakableStack } from '../../cli/demo/faults.js';
import { createStackLog } from '../../cli/demo/stack-log.js';
import { drawSummary } from '../../cli/demo/summary.js';
import { judgeDeadLetters, judgeOrder } from '../../cli/demo/verdict.js';
import { UsageError } from '../../cli/errors.js';
import { withoutColour } from '../../cli/terminal/paint.js';
import type { BoardRow } from '../../cli/orders/board.js';
import type { StatusKind } from '../../client/index.js';
import { advanced, claimed, mustFind } from '../support/builders.js';
import { orderRecord } from '../support/cli-record.js';

const expected = mustFind(sampleOrders[0]).expected;

const ledger: Ledger = ['payment', 'inventory', 'shipping'].map((service) => ({
  service,
  effect: { key: `a.${service}` },
  undo: null,
  furtherKeys: [],
}));

function statuses(...kinds: StatusKind[]) {
  return kinds.map((status, index) => ({
    schemaVersion: 1 as const,
    orderId: 'a',
    seq: index + 1,
    status,
    at: '2030-01-01T00:00:00.000Z',
  }));
}

function evidence(overrides: Partial<OrderEvidence> = {}): OrderEvidence {
  const record = orderRecord({ processState: 'Processed', attempt: 1 });
  return { orderId: 'a', record, statuses: statuses('OrderReceived', 'OrderCompleted'), ledger, ...overrides };
}

describe('the verdict of the demo', () => {
  it('finds nothing wrong with a good order', () => {
    expect(judgeOrder(evidence(), expected)).toEqual([]);
  });

  it.each<[string, Partial<OrderEvidence>, RegExp]>([
    ['no record', { record: undefined }, /no record/],
    ['another end', { record: orderRecord({ processState: 'Error', attempt: 1 }) }, /is Error, not Processed/],
    ['no final status', { statuses: statuses('OrderReceived') }, /0 final status messages/],
    ['two final statuses', { statuses: statuses('OrderCompleted', 'OrderFailed') }, /2 final status messages/],
    ['the wrong final status', { statuses: statuses('OrderFailed') }, /status OrderFailed, not OrderCompleted/],
    ['a missing effect', { ledger: ledger.slice(1) }, /2 effects at the remote services, not 3/],
    ['a second effect', { ledger: ledger.map((entry) => ({ ...entry, furtherKeys: ['k2'] })) }, /3 effects twice/],
    [
      'an undone effect',
      { ledger: ledger.map((entry) => ({ ...entry, undo: { key: 'u' } })) },
      /3 effects undone, not 0/,
    ],
  ])('finds %s', (_what, overrides, problem) => {
    expect(judgeOrder(evidence(overrides), expected).join()).toMatch(problem);
  });

  it('misses the second attempt of an order whose agent dies', () => {
    expect(judgeOrder(evidence(), { ...expected, attempts: 2 })).toEqual(['a made 1 attempts']);
  });

  it('expects the dead letters it caused, and no others', () => {
    const invalid = { messageId: 'm', reason: 'InvalidOrder', description: '' };
    expect(judgeDeadLetters([invalid], ['InvalidOrder'])).toEqual([]);
    expect(judgeDeadLetters([], ['InvalidOrder'])).toHaveLength(1);
    expect(judgeDeadLetters([invalid, { ...invalid, reason: 'OrderConflict' }], ['InvalidOrder'])).toHaveLength(1);
  });

  it('is told with each order, the effects, the dead letters and the time', () => {
    const summary = { further: [], fault: [], problems: [], elapsedMs: 9_640, orders: [evidence()] };
    const deadLetters = [{ messageId: 'invalid', reason: 'InvalidOrder', description: 'currency: wrong' }];
    const text = drawSummary({ ...summary, deadLetters }, { width: 120, paint: withoutColour }).join('\n');
    expect(text).toMatch(/a {6}Processed +1 {2}Received, Completed +3 +0/);
    expect(text).toContain('invalid      InvalidOrder  currency: wrong');
    expect(text).toContain('Each remote service did each thing once: 3 effects in all, 0 of them undone.');
    expect(text).toMatch(/All 1 orders ended as they must, in 9\.6 s\.$/);
  });

  it('names each problem', () => {
    const summary = { further: [], fault: [], deadLetters: [], elapsedMs: 1, orders: [] };
    const text = drawSummary({ ...summary, problems: ['a is Error'] }, { width: 120, paint: withoutColour }).join('\n');
    expect(text).toMatch(/Wrong: a is Error\.\nNot as it must be/);
  });
});

describe('the options of the demo', () => {
  it('are none by default', () => {
    expect(parseDemoOptions([])).toEqual({ furtherOrders: 0, keep: false, fault: undefined });
  });

  it('name further orders, keeping and a fault', () => {
    expect(parseDemoOptions(['--orders', '20', '--keep', '--fault', 'host-killed'])).toEqual({
      furtherOrders: 20,
      keep: true,
      fault: faultScenarios['host-killed'],
    });
    expect(parseDemoOptions(['--help'])).toBe('help');
  });

  it.each([[['--fault', 'fire']], [['--orders', 'many']], [['--order', '1']], [['x']], [['--fault', 'toString']]])(
    'refuse %j',
    (args) => {
      expect(() => parseDemoOptions(args)).toThrow(UsageError);
    },
  );
});

describe('the faults of the demo', () => {
  function recordingStack(): BreakableStack & { readonly calls: unknown[] } {
    const calls: unknown[] = [];
    const note = (...call: unknown[]): Promise<void> => Promise.resolve(void calls.push(call));
    return {
      calls,
      kill: (part) => note('kill', part),
      restart: (part) => note('restart', part),
      setFaults: (part, plan) => note('setFaults', part, plan?.rules.length),
      counters: () => Promise.resolve({ 'faults/replace/order-state/cutAfterCommit': 6 }),
    };
  }

  const row = (record: BoardRow['record']): BoardRow => ({ orderId: 'a', record, status: undefined });
  const inAStep = orderRecord(advanced(claimed()));

  it('kill a part once, while an order is in a step, and start it again', async () => {
    const stack = recordingStack();
    const fault = await mustFind(faultScenarios['host-killed']).begin(stack, () => undefined);
    fault.consider([row(undefined), row(orderRecord())]);
    expect(stack.calls).toEqual([]);
    fault.consider([row(inAStep)]);
    fault.consider([row(inAStep)]);
    expect((await fault.report()).join()).toContain('functions-host was killed while a was being processed');
    expect(stack.calls).toEqual([
      ['kill', 'functions-host'],
      ['restart', 'functions-host'],
    ]);
  });

  it('say when there was no chance to kill', async () => {
    const fault = await mustFind(faultScenarios['broker-restarted']).begin(recordingStack(), () => undefined);
    await expect(fault.report()).rejects.toThrow(/was not killed/);
  });

  it('set rules and tell how often they struck', async () => {
    const stack = recordingStack();
    const fault = await mustFind(faultScenarios['lost-acknowledgement']).begin(stack, () => undefined);
    expect(stack.calls).toEqual([['setFaults', 'cosmos-db', 2]]);
    expect(await fault.report()).toContain('Fault: replace/order-state/cutAfterCommit struck 6 times.');
  });
});

describe('the log of the stack', () => {
  it('keeps the newest lines and leaves out what went well', () => {
    const log = createStackLog();
    log.add("[functions-host] Executing 'Functions.submit' (Id=1)");
    log.add("[functions-host] Executed 'Functions.submit' (Succeeded, Id=1, Duration=1ms)");
    log.add("[functions-host] Executed 'Functions.submit' (Failed, Id=2, Duration=1ms)");
    for (let line = 0; line < 39; line += 1) log.add(`line ${line}`);
    expect(log.lastLines()).toHaveLength(40);
    expect(log.lastLines()[0]).toContain('Failed');
    log.add('one more');
    expect(log.lastLines()[0]).toBe('line 0');
  });
});
