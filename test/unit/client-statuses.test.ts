import { describe, expect, it } from 'vitest';
import { ClientClosedError, StatusTimeoutError } from '../../client/errors.js';
import { iterateStatuses } from '../../client/status-iteration.js';
import { createStatusMemory } from '../../client/status-memory.js';
import { waitForStatus } from '../../client/wait-for-status.js';
import type { StatusKind, StatusMessage } from '../../functions/contracts/status-message.js';

type User = (status: StatusMessage) => void | Promise<void>;

/** A feed moved by hand: `push` tells all its users, and resolves when they are done. */
function handFeed() {
  const users = new Set<User>();
  const join = (user: User) => {
    users.add(user);
    return () => {
      users.delete(user);
    };
  };
  const push = async (status: StatusMessage) => {
    await Promise.all([...users].map(async (user) => user(status)));
  };
  return { users, subscribe: join, follow: join, push };
}

function status(orderId: string, seq: number, kind: StatusKind): StatusMessage {
  return { schemaVersion: 1, orderId, seq, status: kind, at: '2030-01-01T00:00:00.000Z' };
}

function source() {
  const feed = handFeed();
  const memory = createStatusMemory(10);
  const closing = new AbortController();
  return { feed, memory, closing, closed: closing.signal };
}

describe('waiting for a status', () => {
  it('resolves with the end of the order that was asked for', async () => {
    const from = source();
    const waiting = waitForStatus('a', {}, from);
    await from.feed.push(status('a', 1, 'OrderReceived'));
    await from.feed.push(status('b', 2, 'OrderCompleted'));
    await from.feed.push(status('a', 2, 'OrderFailed'));
    await expect(waiting).resolves.toMatchObject({ orderId: 'a', status: 'OrderFailed' });
    expect(from.feed.users.size).toBe(0);
  });

  it('resolves with an earlier status when that is awaited', async () => {
    const from = source();
    const waiting = waitForStatus('a', { until: 'OrderReceived' }, from);
    await from.feed.push(status('a', 1, 'OrderReceived'));
    await expect(waiting).resolves.toMatchObject({ status: 'OrderReceived' });
  });

  it('resolves with the end when the order ends otherwise', async () => {
    const from = source();
    const waiting = waitForStatus('a', { until: 'OrderCompleted' }, from);
    await from.feed.push(status('a', 2, 'OrderFailed'));
    await expect(waiting).resolves.toMatchObject({ status: 'OrderFailed' });
  });

  it('resolves at once with what is known already', async () => {
    const from = source();
    from.memory.remember(status('a', 2, 'OrderCompleted'));
    await expect(waitForStatus('a', {}, from)).resolves.toMatchObject({ seq: 2 });
    expect(from.feed.users.size).toBe(0);
  });

  it('fails after the time limit with the newest status that did come', async () => {
    const from = source();
    from.memory.remember(status('a', 1, 'OrderReceived'));
    const failure: unknown = await waitForStatus('a', { timeoutMs: 1 }, from).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StatusTimeoutError);
    expect(failure).toMatchObject({ orderId: 'a', latest: { status: 'OrderReceived' } });
    expect(from.feed.users.size).toBe(0);
  });

  it('ends when the caller aborts, and when the client is closed', async () => {
    const from = source();
    const abort = new AbortController();
    const aborted = waitForStatus('a', { signal: abort.signal }, from);
    const closed = waitForStatus('b', {}, from);
    abort.abort(new Error('enough'));
    from.closing.abort(new ClientClosedError());
    await expect(aborted).rejects.toThrow('enough');
    await expect(closed).rejects.toThrow(ClientClosedError);
  });
});

describe('iterating over statuses', () => {
  it('counts a status as handled when the next is asked for', async () => {
    const { feed, closed } = source();
    const iterator = iterateStatuses(feed, closed);
    const first = iterator.next();
    const log: string[] = [];
    const handled = feed.push(status('a', 1, 'OrderReceived')).then(() => log.push('handled'));
    await expect(first).resolves.toMatchObject({ value: { seq: 1 } });
    log.push('taken');
    const second = iterator.next();
    await handled;
    void feed.push(status('a', 2, 'OrderCompleted')).catch(() => undefined);
    await expect(second).resolves.toMatchObject({ value: { seq: 2 } });
    expect(log).toEqual(['taken', 'handled']);
    await iterator.return();
  });

  it('leaves the status on the queue that the loop leaves behind', async () => {
    const { feed, closed } = source();
    const iterator = iterateStatuses(feed, closed);
    const first = iterator.next();
    const outcome = feed.push(status('a', 1, 'OrderReceived'));
    await first;
    await iterator.return();
    await expect(outcome).rejects.toThrow(/left on the queue/);
    expect(feed.users.size).toBe(0);
  });

  it('ends when the client is closed', async () => {
    const { feed, closing, closed } = source();
    const next = iterateStatuses(feed, closed).next();
    closing.abort();
    await expect(next).resolves.toMatchObject({ done: true });
    expect(feed.users.size).toBe(0);
  });
});
