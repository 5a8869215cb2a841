/** What every queue sender keeps, and the rejector that is made of one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMessageRejector, deadLetterQueueName } from '../../functions/azure/message-rejector.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { QueueSender, ReceivedMessage } from '../../functions/state/ports.js';
import { mustFind } from '../support/builders.js';
import { uniqueId } from '../support/contract-targets.js';

/** A message as somebody at the other end of the queue gets it. */
export interface Arrived {
  readonly messageId: string;
  readonly body: unknown;
  readonly correlationId: string | undefined;
  readonly applicationProperties: Readonly<Record<string, unknown>>;
  readonly timeToLiveMs: number | undefined;
}

/** A sender under test, with somebody at the other end. */
export interface SenderUnderTest {
  readonly sender: QueueSender;
  /** Takes every message with one of these ids that comes until the queue is silent. */
  readonly arrived: (queue: string, messageIds: readonly string[]) => Promise<readonly Arrived[]>;
  /** What is scheduled for later, by id. */
  readonly scheduled: (queue: string, messageId: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

const queue = 'status-web-shop';

/** The sender contract. */
export function queueSenderContract(name: string, open: () => Promise<SenderUnderTest>): void {
  describe(`the queue sender over ${name}`, () => {
    let target: SenderUnderTest | undefined;
    const under = (): SenderUnderTest => mustFind(target);

    beforeAll(async () => {
      target = await open();
    });
    afterAll(() => target?.close());

    it('delivers ids, body, properties and time to live', async () => {
      const messageId = uniqueId();
      const body = { text: '注文', nested: [1, null, true] };
      const applicationProperties = { redelivery: 2, origin: 'test', last: false };
      const correlationId = 'A-1';
      await under().sender.send(queue, { messageId, body, correlationId, applicationProperties, timeToLiveMs: 60_000 });
      expect(await under().arrived(queue, [messageId])).toEqual([
        { messageId, body, correlationId, applicationProperties, timeToLiveMs: 60_000 },
      ]);
    });

    it('drops a second message with the same id, and keeps one with another (C1, R96)', async () => {
      const [one, other] = [uniqueId(), uniqueId()];
      await under().sender.send(queue, { messageId: one, body: { number: 1 } });
      await under().sender.send(queue, { messageId: one, body: { number: 2 } });
      await under().sender.send(queue, { messageId: other, body: { number: 3 } });
      const arrived = await under().arrived(queue, [one, other]);
      expect(arrived.map(({ body }) => body)).toEqual([{ number: 1 }, { number: 3 }]);
    });

    it('drops a repeat even after the first has been consumed (C1)', async () => {
      const messageId = uniqueId();
      await under().sender.send(queue, { messageId, body: {} });
      expect(await under().arrived(queue, [messageId])).toHaveLength(1);
      await under().sender.send(queue, { messageId, body: {} });
      expect(await under().arrived(queue, [messageId])).toEqual([]);
    });

    it('holds a message back until its time', async () => {
      const messageId = uniqueId();
      const notBefore = new Date(Date.now() + 3_600_000).toISOString();
      await under().sender.send(queue, { messageId, body: {}, notBefore });
      expect(await under().arrived(queue, [messageId])).toEqual([]);
      expect(await under().scheduled(queue, messageId)).toBe(true);
    });

    it('calls a missing queue a fault that may pass: it is one of the deployment (T55, C24)', async () => {
      const sending = under().sender.send('status-no-such-application', { messageId: uniqueId(), body: {} });
      await expect(sending).rejects.toBeInstanceOf(TransientError);
    });

    it('calls a message that is too large a permanent fault (T27, C38)', async () => {
      const body = { text: 'x'.repeat(300_000) };
      const sending = under().sender.send(queue, { messageId: uniqueId(), body });
      await expect(sending).rejects.toBeInstanceOf(PermanentError);
    });

    describe('a rejected message', () => {
      const received = (body: string, overrides: Partial<ReceivedMessage> = {}): ReceivedMessage => ({
        queue: 'orders',
        body: Buffer.from(body),
        contentType: 'application/json',
        messageId: uniqueId(),
        correlationId: 'A-1',
        brokerId: uniqueId(),
        deliveryCount: 1,
        redelivery: 0,
        applicationProperties: { origin: 'shop' },
        ...overrides,
      });
      const rejection = { reason: 'InvalidOrder', description: 'lines: expected at least one' } as const;

      it('is in the dead-letter queue with reason, body, ids and properties (R75, C20, T49)', async () => {
        const message = received('{"orderId":"A-1","lines":[]}');
        await createMessageRejector(under().sender).reject(message, rejection);
        const letters = await under().arrived(deadLetterQueueName('orders'), [message.messageId]);
        expect(letters.map(({ body }) => textOf(body))).toEqual(['{"orderId":"A-1","lines":[]}']);
        expect(letters).toMatchObject([
          {
            messageId: message.messageId,
            correlationId: 'A-1',
            applicationProperties: {
              origin: 'shop',
              DeadLetterReason: 'InvalidOrder',
              DeadLetterErrorDescription: 'lines: expected at least one',
            },
          },
        ]);
      });

      it('is kept each time it is rejected: a replayed message that is refused again is not dropped (T49)', async () => {
        const message = received('{"orderId":"A-1"}');
        const rejector = createMessageRejector(under().sender);
        await rejector.reject(message, rejection);
        await rejector.reject(message, rejection);
        expect(await under().arrived(deadLetterQueueName('orders'), [message.messageId])).toHaveLength(2);
      });

      it.each(['{bad', '', 'plain text'])('keeps %j as it came (C17)', async (body) => {
        const message = received(body, { correlationId: undefined });
        await createMessageRejector(under().sender).reject(message, rejection);
        const [arrived] = await under().arrived(deadLetterQueueName('orders'), [message.messageId]);
        expect(textOf(arrived?.body)).toBe(body);
      });

      it('keeps only properties that a message can carry', async () => {
        const applicationProperties = { plain: 1, nested: { deep: true }, list: [1], nothing: null };
        const message = received('{}', { applicationProperties });
        await createMessageRejector(under().sender).reject(message, rejection);
        const [arrived] = await under().arrived(deadLetterQueueName('orders'), [message.messageId]);
        expect(Object.keys(arrived?.applicationProperties ?? {}).sort()).toEqual([
          'DeadLetterErrorDescription',
          'DeadLetterReason',
          'plain',
        ]);
      });
    });
  });
}

function textOf(body: unknown): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return typeof body === 'string' ? body : JSON.stringify(body);
}
