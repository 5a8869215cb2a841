import { InvocationContext } from '@azure/functions';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createMessageRejector } from '../../functions/azure/message-rejector.js';
import { receive, receiveOnce } from '../../functions/azure/service-bus-trigger.js';
import type { MessageHandler, TriggerDeps } from '../../functions/azure/service-bus-trigger.js';
import { rejection } from '../../functions/contracts/rejection.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import { mustFind } from '../support/builders.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';
import type { SentMessage } from '../support/recording.js';

const waits = vi.hoisted((): number[] => []);

/** Waits inside the lock are noted and pass at once. */
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  },
}));

const body = Buffer.from('{"orderId":"A-1"}');

let sender: ReturnType<typeof createRecordingSender>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: TriggerDeps;

beforeEach(() => {
  waits.length = 0;
  sender = createRecordingSender();
  telemetry = createRecordingTelemetry();
  deps = { sender, telemetry, clock: createManualClock(), rejector: createMessageRejector(sender) };
});

function contextWith(triggerMetadata: Record<string, unknown> = {}, invocationId = 'invocation-1'): InvocationContext {
  const metadata = {
    messageId: 'message-1',
    correlationId: 'A-1',
    sequenceNumber: 7,
    enqueuedTime: '2026-01-01T00:00:00.000+00:00',
    deliveryCount: 1,
    applicationProperties: {},
  };
  return new InvocationContext({
    functionName: 'submit',
    invocationId,
    logHandler: () => undefined,
    triggerMetadata: { ...metadata, ...triggerMetadata },
  });
}

/** Runs the trigger to its end. */
function deliver(handler: MessageHandler, metadata?: Record<string, unknown>): Promise<void> {
  return receive({ queue: 'orders', body, context: contextWith(metadata) }, handler, deps);
}

const failing =
  (error: Error, times = Infinity): MessageHandler =>
  () => {
    times -= 1;
    return times >= 0 ? Promise.reject(error) : Promise.resolve(undefined);
  };

const copies = (): readonly SentMessage[] => sender.queued('orders');
const deadLetters = (): readonly SentMessage[] => sender.queued('orders-dead-letter');

describe('a received message', () => {
  it('is handed on with its ids and properties, and is done when the handler is (B1, I6)', async () => {
    const seen: unknown[] = [];
    await deliver((message) => Promise.resolve(void seen.push(message)), { applicationProperties: { origin: 'shop' } });
    expect(seen).toEqual([
      {
        queue: 'orders',
        body,
        contentType: undefined,
        messageId: 'message-1',
        correlationId: 'A-1',
        brokerId: '7 2026-01-01T00:00:00.000+00:00 message-1',
        deliveryCount: 1,
        redelivery: 0,
        applicationProperties: { origin: 'shop' },
      },
    ]);
    expect(sender.sent).toEqual([]);
  });

  // C21, C32, V6: the runtime turns text that looks like a number into one
  it.each([
    [12345, '12345'],
    [true, 'true'],
    [undefined, 'invocation-1'],
    [null, 'invocation-1'],
  ])('with message id %j is known as %s', async (messageId, expected) => {
    const ids: string[] = [];
    await deliver((message) => Promise.resolve(void ids.push(message.messageId)), { messageId });
    expect(ids).toEqual([expected]);
  });

  it('that is refused is in the dead-letter queue after one delivery, with its reason (B2, C19, C20)', async () => {
    let deliveries = 0;
    await deliver(() => {
      deliveries += 1;
      return Promise.resolve(rejection('InvalidOrder', 'lines: expected at least one'));
    });
    expect(deliveries).toBe(1);
    expect(deadLetters()).toEqual([
      expect.objectContaining({
        messageId: 'message-1',
        body,
        applicationProperties: {
          DeadLetterReason: 'InvalidOrder',
          DeadLetterErrorDescription: 'lines: expected at least one',
        },
      }),
    ]);
    expect(telemetry.count('message-rejected')).toBe(1);
  });

  it('that meets a permanent fault is in the dead-letter queue after one delivery, too (B2, C19)', async () => {
    await deliver(failing(new PermanentError('Cosmos413', 'too large')));
    expect(deadLetters()[0]?.applicationProperties).toMatchObject({
      DeadLetterReason: 'PermanentFault',
      DeadLetterErrorDescription: 'Cosmos413: too large',
    });
  });

  it('of a newer build brings an alert (T81)', async () => {
    await deliver(() => Promise.resolve(rejection('UnsupportedSchemaVersion', 'schemaVersion: expected 1')));
    expect(telemetry.count('message-newer')).toBe(1);
  });

  it('stays when it can’t be dead-lettered now: nothing is lost (I6)', async () => {
    sender.fail('permanent', (queue) => queue === 'orders-dead-letter');
    const refused: MessageHandler = () => Promise.resolve(rejection('InvalidOrder', 'x'));
    const done = receive({ queue: 'orders', body, context: contextWith() }, refused, deps);
    await expect(done).rejects.toBeInstanceOf(PermanentError);
  });

  it('with a surprise is left to the broker', async () => {
    const done = receive({ queue: 'orders', body, context: contextWith() }, failing(new RangeError('bug')), deps);
    await expect(done).rejects.toBeInstanceOf(RangeError);
  });
});

describe('a transient fault', () => {
  const outage = new TransientError('state store: 503');

  it('that passes soon is waited out inside the lock (B3)', async () => {
    await deliver(failing(outage, 3));
    expect(waits).toHaveLength(3);
    expect(sender.sent).toEqual([]);
  });

  it('is waited for well below the lock duration of a minute (C76)', async () => {
    await deliver(failing(outage));
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(30_000);
    expect(copies()).toHaveLength(1);
  });

  it('of the broker itself leaves the message where it is (I6)', async () => {
    sender.fail('transient');
    await expect(deliver(failing(outage))).rejects.toBeInstanceOf(TransientError);
  });
});

describe('receiveOnce', () => {
  it('runs its handler once and lets a fault abandon the message: deliveries are counted (R50, T70)', async () => {
    let runs = 0;
    const handler: MessageHandler = () => {
      runs += 1;
      return Promise.reject(new TransientError('no reply queue'));
    };
    const done = receiveOnce({ queue: 'payment-requests', body, context: contextWith() }, handler, deps);
    await expect(done).rejects.toBeInstanceOf(TransientError);
    expect(runs).toBe(1);
    expect(copies()).toEqual([]);
  });

  it('rejects what is refused', async () => {
    const handler: MessageHandler = () => Promise.resolve(rejection('InvalidRequest', 'x'));
    await receiveOnce({ queue: 'payment-requests', body, context: contextWith() }, handler, deps);
    expect(sender.queued('payment-requests-dead-letter')).toHaveLength(1);
  });
});

describe('a delayed copy', () => {
  const outage = new TransientError('state store: 503');

  async function putOff(metadata: Record<string, unknown>, invocationId = 'invocation-1'): Promise<SentMessage> {
    await receive({ queue: 'orders', body, context: contextWith(metadata, invocationId) }, failing(outage), deps);
    return mustFind(copies().at(-1));
  }

  it('takes the place of a message whose fault lasts, with its bytes, ids and properties (B3, T48, C19)', async () => {
    const trace = { 'diagnostic-Id': '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
    expect(await putOff({ applicationProperties: trace, contentType: 'application/json' })).toMatchObject({
      queue: 'orders',
      body,
      contentType: 'application/json',
      correlationId: 'A-1',
      notBefore: addMs(startOfTime, 5_000),
      applicationProperties: { ...trace, redelivery: 1, originalMessageId: 'message-1' },
    });
    expect(deadLetters()).toEqual([]);
  });

  it('waits longer each time, at most a minute (B3)', async () => {
    const copy = { redelivery: 7, originalMessageId: 'message-1' };
    expect(await putOff({ messageId: 'redelivery.earlier', applicationProperties: copy })).toMatchObject({
      notBefore: addMs(startOfTime, 60_000),
      applicationProperties: { redelivery: 8, originalMessageId: 'message-1' },
    });
  });

  it('never has the id of the copy of another message, also when the senders chose one id (B4)', async () => {
    const first = await putOff({ messageId: 'SAME' }, 'invocation-1');
    const second = await putOff({ messageId: 'SAME' }, 'invocation-2');
    expect(first.messageId).not.toBe(second.messageId);
    for (const { messageId } of copies()) expect(messageId.length).toBeLessThanOrEqual(128);
  });

  it.each(['abc', -1, 1.5, 400, null])(
    'is not shaped by a property redelivery of %j that the sender has set (B4)',
    async (redelivery) => {
      const applicationProperties = { redelivery, originalMessageId: 'SPOOFED' };
      expect(await putOff({ applicationProperties })).toMatchObject({
        notBefore: addMs(startOfTime, 5_000),
        applicationProperties: { redelivery: 1, originalMessageId: 'message-1' },
      });
    },
  );

  it('that is refused in the end keeps the id it was sent with (C20)', async () => {
    const metadata = {
      messageId: 'redelivery.invocation-0',
      applicationProperties: { redelivery: 1, originalMessageId: 'message-1' },
    };
    await deliver(() => Promise.resolve(rejection('InvalidOrder', 'x')), metadata);
    expect(deadLetters()[0]?.messageId).toBe('message-1');
  });
});

describe('a body that is not bytes', () => {
  it('is a fault of the registration and is left to the broker (B4)', async () => {
    const done = receive(
      { queue: 'orders', body: '{}', context: contextWith() },
      () => Promise.resolve(undefined),
      deps,
    );
    await expect(done).rejects.toThrow("dataType: 'binary'");
  });
});
