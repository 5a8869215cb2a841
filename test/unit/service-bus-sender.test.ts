/** What the sender makes of the SDK's errors: which are answers of the broker, and when a connection counts as dead. */
import { ServiceBusError } from '@azure/service-bus';
import type { ServiceBusClient } from '@azure/service-bus';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createQueueSender } from '../../functions/azure/service-bus-sender.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { QueueSender } from '../../functions/state/ports.js';

const message = { messageId: 'm-1', body: {} };

let connections: number;
let answers: ((queue: string) => Promise<void>)[];
let sender: QueueSender;

beforeEach(() => {
  vi.useFakeTimers();
  connections = 0;
  answers = [];
  sender = createQueueSender(() => {
    connections += 1;
    const sendMessages = (queue: string): Promise<void> => (answers.shift() ?? (() => Promise.resolve()))(queue);
    const createSender = (queue: string): unknown => ({ sendMessages: () => sendMessages(queue) });
    return { createSender, close: () => Promise.resolve() } as unknown as ServiceBusClient;
  });
});

afterEach(() => {
  vi.useRealTimers();
});

const failing = (error: Error) => (): Promise<void> => Promise.reject(error);

/** A send that fails after so many milliseconds, the connection being older than a second. */
async function fail(error: Error, afterMs = 0, signal?: AbortSignal): Promise<unknown> {
  vi.advanceTimersByTime(2_000);
  answers.push(() => {
    vi.advanceTimersByTime(afterMs);
    return failing(error)();
  });
  return sender.send('orders', message, signal).catch((thrown: unknown) => thrown);
}

const refusals = ['ServiceBusy', 'QuotaExceeded', 'MessagingEntityDisabled', 'MessagingEntityNotFound'] as const;

describe('a send that the broker refuses', () => {
  it.each([...refusals, 'UnauthorizedAccess'] as const)(
    'with %s is a fault that may pass, and keeps the connection, after one try or several of the SDK',
    async (code) => {
      await sender.send('orders', message);
      const error = new ServiceBusError('no', code);
      for (const thrown of [error, new AggregateError([error, error])]) {
        expect(await fail(thrown)).toBeInstanceOf(TransientError);
      }
      await sender.send('orders', message);
      expect(connections).toBe(1);
    },
  );

  it('because the message is too large never succeeds', async () => {
    expect(await fail(new ServiceBusError('too large', 'MessageSizeExceeded'))).toBeInstanceOf(PermanentError);
  });
});

describe('a send without an answer', () => {
  const timeout = new ServiceBusError('timed out', 'ServiceTimeout');

  it('makes the next one use a new connection', async () => {
    await sender.send('orders', message);
    await fail(timeout, 5_000);
    await sender.send('orders', message);
    expect(connections).toBe(2);
  });

  it('keeps the connection on which another send was answered meanwhile', async () => {
    await sender.send('orders', message);
    vi.advanceTimersByTime(2_000);
    answers.push(async () => {
      vi.advanceTimersByTime(3_000);
      await sender.send('payment-requests', message);
      return failing(timeout)();
    });
    await expect(sender.send('status-slow', message)).rejects.toBeInstanceOf(TransientError);
    await sender.send('orders', message);
    expect(connections).toBe(1);
  });

  it('keeps the connection when its caller gave up early, until it has been silent for ten seconds', async () => {
    await sender.send('orders', message);
    for (let count = 0; count < 2; count += 1) await fail(new Error('aborted'), 2_000, AbortSignal.abort());
    await sender.send('orders', message);
    expect(connections).toBe(1);
    for (let count = 0; count < 4; count += 1) await fail(new Error('aborted'), 2_000, AbortSignal.abort());
    await sender.send('orders', message);
    expect(connections).toBe(2);
  });
});
