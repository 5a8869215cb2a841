import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStatusMemory } from '../../client/status-memory.js';
import type { StatusMessage } from '../../functions/contracts/status-message.js';

function status(orderId: string, seq: number, at = '2030-01-01T00:00:00.000Z'): StatusMessage {
  return { schemaVersion: 1, orderId, seq, status: 'OrderReceived', at };
}

describe('the memory of statuses', () => {
  it('takes a status for news once (M1)', () => {
    const memory = createStatusMemory(10);
    expect(memory.isNews(status('a', 1))).toBe(true);
    memory.remember(status('a', 1));
    expect(memory.isNews(status('a', 1))).toBe(false);
    expect(memory.isNews(status('a', 2))).toBe(true);
  });

  it('takes an older status for no news (M1)', () => {
    const memory = createStatusMemory(10);
    memory.remember(status('a', 2));
    memory.remember(status('a', 1));
    expect(memory.isNews(status('a', 1))).toBe(false);
    expect(memory.newest('a')?.seq).toBe(2);
  });

  it('takes each refusal of an order that was never taken for news once (M1)', () => {
    const memory = createStatusMemory(10);
    const first = status('a', 0, '2030-01-01T00:00:00.000Z');
    const second = status('a', 0, '2030-01-01T00:00:30.000Z');
    expect(memory.isNews(first)).toBe(true);
    memory.remember(first);
    expect(memory.isNews(first)).toBe(false);
    expect(memory.isNews(second)).toBe(true);
    memory.remember(status('a', 1));
    expect(memory.isNews(second)).toBe(false);
  });

  it('goes on knowing a rejection after the order was tried again, but as the newest status of nothing (M3)', () => {
    const memory = createStatusMemory(10);
    const first: StatusMessage = { ...status('a', 0), status: 'OrderRejected' };
    const second = { ...first, at: '2030-01-01T00:00:30.000Z' };
    memory.remember(first);
    memory.markTriedAgain(first);
    expect(memory.newest('a')).toBeUndefined();
    expect(memory.rejection('a')).toEqual(first);
    expect(memory.isNews(first)).toBe(false);
    memory.remember(second);
    memory.markTriedAgain(first);
    expect(memory.newest('a')).toEqual(second);
    expect(memory.rejection('b')).toBeUndefined();
    memory.remember(status('a', 1));
    expect(memory.rejection('a')).toBeUndefined();
  });

  it('keeps the orders apart', () => {
    const memory = createStatusMemory(10);
    memory.remember(status('a', 5));
    expect(memory.isNews(status('b', 1))).toBe(true);
    expect(memory.newest('b')).toBeUndefined();
  });

  it('forgets the order that was silent for longest (M2)', () => {
    const memory = createStatusMemory(2);
    memory.remember(status('a', 1));
    memory.remember(status('b', 1));
    memory.remember(status('a', 2));
    memory.remember(status('c', 1));
    expect(memory.newest('b')).toBeUndefined();
    expect(memory.newest('a')?.seq).toBe(2);
    expect(memory.newest('c')?.seq).toBe(1);
  });

  it('lets each order only go forward, whatever comes in whatever order (M1)', () => {
    const messages = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 6 })));
    fc.assert(
      fc.property(messages, (sequence) => {
        const memory = createStatusMemory(10);
        const seen = new Map<string, number[]>();
        for (const [orderId, seq] of sequence) {
          const message = status(orderId, seq);
          if (memory.isNews(message)) seen.set(orderId, [...(seen.get(orderId) ?? []), seq]);
          memory.remember(message);
        }
        for (const seqs of seen.values()) expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      }),
    );
  });
});
