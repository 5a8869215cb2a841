/** Agents that misbehave, or whose clock is wrong, and what is left of that in the whole system. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHttpRemoteService } from '../../../functions/agents/http-remote-service.js';
import { paymentAgent } from '../../../functions/agents/payment-agent.js';
import { createRemoteGuards } from '../../../functions/agents/remote-guards.js';
import { serveMessage } from '../../../functions/agents/serve-message.js';
import type { AgentDeps } from '../../../functions/agents/agent.js';
import { createRecentMap } from '../../../functions/azure/recent-map.js';
import type { AgentReply } from '../../../functions/contracts/agent-reply.js';
import { addMs, toTimestamp } from '../../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../../functions/state/state-record.js';
import { countDeadLetters, violations } from '../../support/matrix-invariants.js';
import { playPaymentAgent, withoutPaymentAgent } from '../../support/matrix-agent.js';
import type { AgentHands } from '../../support/matrix-agent.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';

const minuteMs = 60_000;

/** What an honest agent does. */
async function answerWell(hands: AgentHands): Promise<void> {
  await hands.work();
  await hands.send(hands.reply(), hands.request.requestId);
}

/** Until the request's time is up and the scheduler has noticed. */
async function pastDeadline({ request }: AgentHands): Promise<void> {
  await delay(Math.max(0, Date.parse(request.completeBy) - Date.now()) + 300);
}

describe('with an agent of its own', () => {
  let world: MatrixWorld;
  let deadLetters = 0;

  beforeAll(async () => {
    world = await startMatrixWorld({ settings: withoutPaymentAgent });
  });
  afterAll(() => world.close());

  function play(answer: (hands: AgentHands) => Promise<void>): void {
    const agent = playPaymentAgent(world, answer);
    onTestFinished(() => agent.close());
  }

  /** Sends orders, waits until all has ended, checks the invariants and returns the records. */
  async function run(...orderIds: readonly string[]): Promise<readonly StateRecord[]> {
    const sent = new Map(orderIds.map((orderId) => [orderId, matrixOrder(orderId)]));
    for (const [orderId, body] of sent) await world.send(body, orderId);
    expect(await violations(world, sent, deadLetters)).toEqual([]);
    return Promise.all(orderIds.map((orderId) => eventually(`the record of ${orderId}`, () => world.record(orderId))));
  }

  it('an order survives an agent that stays silent: the next attempt does it (T71, C1)', async () => {
    play(async (hands) => {
      if (hands.request.attempt > 1) await answerWell(hands);
    });
    const [record] = await run('silent');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 2, failureCount: 1 });
  });

  it('work done after the deadline is kept once, and its reply changes nothing (T23, T26, T40)', async () => {
    play(async (hands) => {
      if (hands.request.attempt === 1) await pastDeadline(hands);
      await answerWell(hands);
    });
    const [record] = await run('slow');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 2 });
    expect(new Set(world.remote.calls('slow').map(({ key }) => key)).has('slow.payment')).toBe(true);
  });

  it('a reply that comes after the deadline is late, also when the work was in time (T13, C10)', async () => {
    play(async (hands) => {
      await hands.work();
      if (hands.request.attempt === 1) await pastDeadline(hands);
      await hands.send(hands.reply(), hands.request.requestId);
    });
    const [record] = await run('late');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 2 });
  });

  it('a reply that comes twice, and again after the end, counts once (T15, T16, C3, C35)', async () => {
    const served: AgentHands[] = [];
    play(async (hands) => {
      await answerWell(hands);
      await hands.send(hands.reply(), `${hands.request.requestId}.again`);
      served.push(hands);
    });
    const [record] = await run('twice');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 1 });
    for (const hands of served) await hands.send(hands.reply(), 'twice.long-after');
    expect(await violations(world, new Map([['twice', matrixOrder('twice')]]), deadLetters)).toEqual([]);
    expect(await world.record('twice')).toEqual(record);
  });

  it('an error that comes after the good reply to the same request changes nothing (T24)', async () => {
    play(async (hands) => {
      await answerWell(hands);
      const error = { code: 'Closed', message: 'a second agent saw it otherwise' };
      await hands.send({ ...hands.reply(), outcome: 'failed', error }, `${hands.request.requestId}.error`);
    });
    const [record] = await run('two-answers');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 1 });
  });

  it('a reply without the token of its request is foreign (T25)', async () => {
    play(async (hands) => {
      const forged = { ...hands.reply(), replyToken: '00000000-0000-4000-8000-000000000000', outcome: 'refused' };
      await hands.send(forged, `${hands.request.requestId}.forged`);
      await answerWell(hands);
    });
    const [record] = await run('forged');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 1 });
  });

  it('a reply that breaks the contract is kept aside, and the right one counts (C4, C17)', async () => {
    play(async (hands) => {
      const { requestId } = hands.request;
      await hands.send('no reply at all', `${requestId}.text`);
      await hands.send({ ...hands.reply(), orderId: '../wrong' }, `${requestId}.id`);
      await answerWell(hands);
    });
    deadLetters += 2;
    const [record] = await run('wrong');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 1 });
    expect(await countDeadLetters(world)).toBe(deadLetters);
  });

  it('a reply to another order that waits at the same time does not answer it (T16, T25)', async () => {
    const waiting: AgentHands[] = [];
    play(async (hands) => {
      waiting.push(hands);
      if (waiting.length < 2) return;
      const [one, other] = waiting as [AgentHands, AgentHands];
      const { orderId, requestId } = other.request;
      await one.send({ ...one.reply(), orderId, requestId, outcome: 'refused' }, 'crossed');
      for (const each of waiting) await answerWell(each);
    });
    const records = await run('crossed-a', 'crossed-b');
    expect(records.map(({ processState }) => processState)).toEqual(['Processed', 'Processed']);
  });

  function kit(clockErrorMs: number): AgentDeps {
    const clock = { now: () => addMs(toTimestamp(new Date()), clockErrorMs) };
    const policy = { failureThreshold: 1_000, openMs: 1_000, stepDeadlineMs: 4_000 };
    return {
      remote: createHttpRemoteService(`${world.remote.url}/payment`),
      ...createRemoteGuards('queue', policy, { clock, wait: delay }),
      clock,
      telemetry: { event: () => undefined, alert: () => undefined },
      retryDelayMs: 10,
      random: () => 0.5,
      wait: delay,
    };
  }

  function playKit(clockErrorMs: number, before: (hands: AgentHands) => Promise<void> = () => Promise.resolve()): void {
    const sender = world.bus.createSender('payment-replies');
    onTestFinished(() => sender.close());
    const send = async (_queue: string, { body, messageId }: { body: unknown; messageId: string }): Promise<void> => {
      await sender.sendMessages({ body, messageId });
    };
    const answered = createRecentMap<AgentReply>(100);
    play(async (hands) => {
      await before(hands);
      await serveMessage(
        paymentAgent,
        { body: hands.body, deliveryCount: 1 },
        { ...kit(clockErrorMs), sender: { send }, answered },
      );
    });
  }

  it('an agent whose clock is 5 minutes fast does nothing, and the order waits for an operator (T62)', async () => {
    playKit(5 * minuteMs);
    const [record] = await run('fast-clock');
    expect(record).toMatchObject({ processState: 'Error', error: { code: 'AttemptsExhausted' } });
    expect(world.remote.calls('fast-clock')).toEqual([]);
  });

  it('an agent whose clock is 5 minutes slow still has one effect an order (T62)', async () => {
    playKit(-5 * minuteMs);
    const [record] = await run('slow-clock');
    expect(record).toMatchObject({ processState: 'Processed' });
  });

  it('an agent whose clock is slow works past the deadline, and the fence keeps that harmless (T26, T62)', async () => {
    playKit(-5 * minuteMs, (hands) => (hands.request.attempt === 1 ? pastDeadline(hands) : Promise.resolve()));
    const [record] = await run('slow-and-late');
    expect(record).toMatchObject({ processState: 'Processed', attempt: 2 });
  });
});
