import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { aRecord, compensatingRecord } from '../support/builders.js';
import { createSupervisorWorld, now, policy } from '../support/supervisor-world.js';

let { database, run, telemetry } = createSupervisorWorld();

beforeEach(() => {
  ({ database, run, telemetry } = createSupervisorWorld());
});

describe('orders that wait for the starter', () => {
  const waiting = (orderId: string, sinceMs: number, fields: Partial<StateRecord> = {}): void => {
    database.put({ ...aRecord(), id: orderId, orderId, notBefore: addMs(now, -sinceMs), ...fields });
  };

  it('are noticed though the starter may be dead: how long the oldest is due (T7)', async () => {
    waiting('A-1', 10_000);
    waiting('A-2', 20_000);
    waiting('later', -5_000);
    expect(await run()).toMatchObject({ oldestPendingMs: 20_000, recovered: 0 });
    expect(telemetry.count('start-overdue')).toBe(0);
  });

  it.each([
    ['Pending', aRecord()],
    ['Compensating', compensatingRecord()],
  ])('are named when they should have been started long ago: %s (T7)', async (state, record) => {
    const waitingMs = policy.startByMs + 1;
    database.put({ ...record, notBefore: addMs(now, -waitingMs) });
    await run();
    const told = telemetry.events.find(({ name }) => name === 'start-overdue');
    expect(told?.fields).toEqual({ orderId: 'A-1', state, waitingMs });
  });

  it('are not hidden by a document that can’t be read', async () => {
    waiting('bad-waiting', 30_000, { failureCount: -1 });
    waiting('A-1', 20_000);
    expect(await run()).toMatchObject({ oldestPendingMs: 20_000, unreadable: 1 });
  });
});
