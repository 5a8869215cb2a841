/** The orchestrator on the real replay engine: OR1, OR2 and W1–W3. */
import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { orderOrchestrator } from '../../functions/scheduler/orchestrator.js';
import {
  completeBy,
  dispatched,
  ended,
  later,
  raised,
  replyFor,
  subject,
  superseded,
  timerFired,
  tooLate,
  tokenOf,
  waitingFor,
} from '../support/attempt-happenings.js';
import { startOfTime } from '../support/manual-clock.js';
import { startRun } from '../support/orchestration-run.js';
import type { Happening } from '../support/orchestration-run.js';

describe('an attempt', () => {
  it('first advances, with its own ids and a token for the reply', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    const { isDone, actions } = await run.turn(startOfTime);
    expect(isDone).toBe(false);
    expect(actions).toHaveLength(1);
    expect(actions[0]).toMatchObject({
      kind: 'callActivityWithRetry',
      name: 'advance',
      input: { orderId: 'A-1', instanceId: 'A-1.1', replyToken: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
    });
  });

  it('races the reply of its step against a timer to the step’s deadline (R94)', async () => {
    const { run } = await waitingFor('payment');
    const { actions } = await run.turn(later(200));
    expect(actions.at(-1)).toEqual({
      kind: 'whenAny',
      children: [
        { kind: 'waitForExternalEvent', name: 'reply.payment' },
        { kind: 'createTimer', fireAt: completeBy, isCanceled: false },
      ],
    });
  });

  it('runs every step to the end, on events and in the app, and leaves no timer (R14, R93, T21, C13)', async () => {
    const { run, token } = await waitingFor('payment');
    const second = await run.turn(later(200), raised('payment', token));
    expect(run.waitingInputs('advance')).toHaveLength(1);
    const inventory = await run.turn(later(300), dispatched('inventory', 'activity'));
    const inventoryToken = tokenOf(second, inventory);
    await run.turn(later(400), {
      kind: 'completed',
      activity: 'inventory',
      result: replyFor('inventory', inventoryToken),
    });
    const shipping = await run.turn(later(500), dispatched('shipping'));
    await run.turn(later(600), raised('shipping', tokenOf(shipping)));
    const last = await run.turn(later(700), ended('Processed'));
    expect(last).toMatchObject({ isDone: true, output: { kind: 'ended', processState: 'Processed' } });
    expect(run.openTimers()).toBe(0);
  });

  it('hands the outcome of a step to the next advance, and nothing of the order (OR1, T78)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(later(200), raised('payment', token));
    expect(run.waitingInputs('advance')[0]).toMatchObject({
      reply: { stepId: 'payment', requestId: 'A-1.1.payment', outcome: 'succeeded', result: { reference: 'r-1' } },
    });
    expect(JSON.stringify(run.history)).not.toMatch(/paymentToken|shippingAddress|customerId/);
  });

  it('keeps its history small (C37)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(later(200), raised('payment', token));
    await run.turn(later(300), ended('Processed'));
    expect(JSON.stringify(run.history).length).toBeLessThan(16_000);
  });

  it('gives each step a token of its own (T25)', async () => {
    const { run, token } = await waitingFor('payment');
    const next = await run.turn(later(200), raised('payment', token));
    expect(tokenOf(next)).not.toBe(token);
  });

  it('keeps a reply that comes before the step is waited for (C9, T20)', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    const first = await run.turn(startOfTime);
    await run.turn(later(50), raised('payment', tokenOf(first)));
    await run.turn(later(100), dispatched('payment'));
    expect(run.waitingInputs('advance')[0]).toMatchObject({ reply: { outcome: 'succeeded' } });
  });

  it('keeps a reply that comes in the same batch as the answer of advance', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    const first = await run.turn(startOfTime);
    await run.turn(later(100), raised('payment', tokenOf(first)), dispatched('payment'));
    expect(run.waitingInputs('advance')).toHaveLength(1);
    expect(run.openTimers()).toBe(0);
  });
});

describe('a step whose time is up', () => {
  it('ends the attempt without a write; only the supervisor gets a hint (OR2, R15, R99, R100)', async () => {
    const { run } = await waitingFor('payment');
    await run.turn(completeBy, timerFired);
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.waitingInputs('hintSupervisor')).toEqual([{ orderId: 'A-1', requestId: 'A-1.1.payment', completeBy }]);
    const last = await run.turn(completeBy, { kind: 'completed', activity: 'hintSupervisor', result: null });
    expect(last).toMatchObject({ isDone: true, output: { kind: 'timedOut' } });
    expect(run.openTimers()).toBe(0);
  });

  it('ends the attempt also when the hint fails: the scan is the guarantee', async () => {
    const { run } = await waitingFor('payment');
    await run.turn(completeBy, timerFired);
    const last = await run.turn(completeBy, { kind: 'failed', activity: 'hintSupervisor', reason: 'no broker' });
    expect(last).toMatchObject({ isDone: true, output: { kind: 'timedOut' } });
  });

  it('stays timed out when a reply comes with or after the timer (T13, R16)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(completeBy, timerFired, raised('payment', token));
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
  });

  // T14: after an outage the reply is read before the timer fires
  it.each([
    ['at the deadline', completeBy],
    ['ten minutes after it', addMs(completeBy, 600_000)],
  ])('is timed out although a late reply wins the race %s (W2, T14)', async (_name, at) => {
    const { run, token } = await waitingFor('payment');
    await run.turn(at, raised('payment', token));
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
    expect(run.openTimers()).toBe(0);
  });

  it('is timed out although the late reply stands before the timer in the same batch (W2, T14)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(addMs(completeBy, 600_000), raised('payment', token), timerFired);
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
  });

  it.each([
    ['over a queue', 'queue'],
    ['in the app', 'activity'],
  ] as const)(
    'is answered by a reply %s that was received in time, however late the runtime hands it over (W2)',
    async (_name, transport) => {
      const { run, token } = await waitingFor('payment', transport);
      const received = { receivedAt: addMs(completeBy, -1) };
      const happening: Happening =
        transport === 'queue'
          ? raised('payment', token, received)
          : { kind: 'completed', activity: 'payment', result: replyFor('payment', token, received) };
      await run.turn(addMs(completeBy, 600_000), happening);
      expect(run.waitingInputs('advance')).toMatchObject([{ reply: { outcome: 'succeeded' } }]);
      expect(run.openTimers()).toBe(0);
    },
  );

  it('is timed out although a reply wins the race that was received at the deadline (W2)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(addMs(completeBy, 1), raised('payment', token, { receivedAt: completeBy }));
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
  });

  it('is still answered by a reply one millisecond before its deadline', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(addMs(completeBy, -1), raised('payment', token));
    expect(run.waitingInputs('advance')).toHaveLength(1);
  });
});

describe('replies that nobody waits for', () => {
  it.each([
    ['another token', { replyToken: '99999999-9999-4999-8999-999999999999' }],
    ['the request of another attempt', { attempt: 2, requestId: 'A-1.2.payment' }],
    ['another order', { orderId: 'B-1', requestId: 'B-1.1.payment' }],
    ['no contract', { outcome: 'Succeeded' }],
  ])('with %s are ignored, and the race goes on against the same deadline (W3, T15, T25)', async (_name, wrong) => {
    const { run, token } = await waitingFor('payment');
    const ignored = await run.turn(later(200), raised('payment', token, wrong));
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.openTimers()).toBe(1);
    expect(ignored.actions.at(-1)?.children?.[1]).toMatchObject({ fireAt: completeBy, isCanceled: false });
    await run.turn(later(300), raised('payment', token));
    expect(run.waitingInputs('advance')).toHaveLength(1);
    expect(run.openTimers()).toBe(0);
  });

  it('with an empty payload are ignored (V3)', async () => {
    const { run } = await waitingFor('payment');
    await run.turn(later(200), { kind: 'raised', name: 'reply.payment', payload: undefined });
    expect(run.openTimers()).toBe(1);
  });

  it('with another spelling of the event name are ignored (T17)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(later(200), { kind: 'raised', name: 'Reply.payment', payload: replyFor('payment', token) });
    expect(run.waitingInputs('advance')).toEqual([]);
  });

  it('a hundred times over end the wait of the attempt', async () => {
    const { run, token } = await waitingFor('payment');
    const foreign = raised('payment', token, { replyToken: '99999999-9999-4999-8999-999999999999' });
    await run.turn(later(200), ...Array.from({ length: 100 }, () => foreign));
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
    expect(run.openTimers()).toBe(0);
  });

  it('in turn after turn do not let the history grow without bound (W4)', async () => {
    const { run, token } = await waitingFor('payment');
    const foreign = raised('payment', token, { replyToken: '99999999-9999-4999-8999-999999999999' });
    let turns = 0;
    while (run.waitingInputs('hintSupervisor').length === 0 && turns < 60) {
      turns += 1;
      await run.turn(later(200 + turns), foreign);
    }
    expect(turns).toBeLessThan(60);
    expect(run.openTimers()).toBe(0);
  });

  // C3, C35, T16
  it('as duplicates of step one never answer step two, which still gets its own', async () => {
    const { run, token } = await waitingFor('payment');
    const copies = Array.from({ length: 5 }, () => raised('payment', token));
    const next = await run.turn(later(200), ...copies);
    await run.turn(later(300), dispatched('shipping'), raised('payment', token));
    expect(run.waitingInputs('advance')).toEqual([]);
    await run.turn(later(400), raised('shipping', tokenOf(next)));
    expect(run.waitingInputs('advance')[0]).toMatchObject({ reply: { stepId: 'shipping' } });
  });
});

describe('an agent that is an activity', () => {
  it('gets ids only (T78)', async () => {
    const { run, token } = await waitingFor('inventory', 'activity');
    expect(run.waitingInputs('inventory')).toEqual([
      { orderId: 'A-1', requestId: 'A-1.1.inventory', replyToken: token },
    ]);
  });

  it('that has nothing definite to say is an unknown outcome (R27, T23)', async () => {
    const { run } = await waitingFor('inventory', 'activity');
    await run.turn(later(200), { kind: 'completed', activity: 'inventory', result: null });
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
    expect(run.openTimers()).toBe(0);
  });

  it.each([
    ['in time', later(200)],
    ['after the deadline', later(61_000)],
  ])(
    'that breaks %s is a fault of our side: the attempt has stopped, it has not timed out (OR3)',
    async (_when, at) => {
      const { run } = await waitingFor('inventory', 'activity');
      await run.turn(at, { kind: 'failed', activity: 'inventory', reason: 'Error: broken' });
      expect(run.waitingInputs('hintSupervisor')).toMatchObject([{ requestId: 'A-1.1.inventory', ending: 'stopped' }]);
      const last = await run.turn(at, { kind: 'completed', activity: 'hintSupervisor', result: null });
      expect(last).toMatchObject({ isDone: true, output: { kind: 'stopped' } });
      expect(run.openTimers()).toBe(0);
    },
  );

  it('gets its time anew if the runtime has used up half of it before the call (W5)', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    const first = await run.turn(startOfTime);
    const late = later(100_000);
    await run.turn(late, dispatched('inventory', 'activity', completeBy, 60_000));
    const anew = addMs(late, 60_000);
    expect(run.waitingInputs('inventory')).toMatchObject([{ requestId: 'A-1.1.inventory', completeBy: anew }]);
    const received = { receivedAt: addMs(anew, -1) };
    const result = replyFor('inventory', tokenOf(first), received);
    await run.turn(addMs(anew, 600_000), { kind: 'completed', activity: 'inventory', result });
    expect(run.waitingInputs('advance')).toMatchObject([{ reply: { outcome: 'succeeded' } }]);
  });

  it('that answers after the deadline is timed out (W2, T14)', async () => {
    const { run, token } = await waitingFor('inventory', 'activity');
    await run.turn(later(61_000), { kind: 'completed', activity: 'inventory', result: replyFor('inventory', token) });
    expect(run.waitingInputs('advance')).toEqual([]);
    expect(run.openTimers()).toBe(0);
  });

  it('that does not answer at all is timed out', async () => {
    const { run } = await waitingFor('inventory', 'activity');
    await run.turn(completeBy, timerFired);
    expect(run.waitingInputs('hintSupervisor')).toHaveLength(1);
  });
});

describe('the end of an attempt', () => {
  it.each<[string, Happening, unknown]>([
    ['superseded at its first advance (T4, T82)', superseded, { kind: 'superseded' }],
    [
      'refused, to be undone by the next attempt',
      ended('Compensating'),
      { kind: 'ended', processState: 'Compensating' },
    ],
    ['given up', ended('Error'), { kind: 'ended', processState: 'Error' }],
    ['too late to send its request', tooLate, { kind: 'tooLate' }],
  ])('comes when it is %s', async (_name, happening, output) => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    await run.turn(startOfTime);
    expect(await run.turn(later(100), happening)).toMatchObject({ isDone: true, output });
  });

  it('comes quietly when it is superseded between two steps (T40, C77)', async () => {
    const { run, token } = await waitingFor('payment');
    await run.turn(later(200), raised('payment', token));
    const last = await run.turn(later(300), superseded);
    expect(last).toMatchObject({ isDone: true, output: { kind: 'superseded' }, error: undefined });
    expect(run.openTimers()).toBe(0);
  });
});

it('an instance with an input that is none of ours fails at once', async () => {
  const run = startRun(orderOrchestrator, { instanceId: 'x', input: { orderId: '../x', attempt: 0 } }, startOfTime);
  expect((await run.turn(startOfTime)).error).toBeDefined();
});
