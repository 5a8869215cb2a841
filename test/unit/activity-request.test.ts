import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { requestForActivity } from '../../functions/scheduler/agent-request-builder.js';
import type { ActivityRequestDeps } from '../../functions/scheduler/agent-request-builder.js';
import { TransientError } from '../../functions/state/errors.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { aRecord, advanced, anOrder, claimed, stepDeadlineMs } from '../support/builders.js';
import { faultAt, faultyStore } from '../support/faulty.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import {
  createMemoryOrdersDatabase,
  createMemoryStateDatabase,
  createMemoryStateStore,
} from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';

const replyToken = '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11';

let database: MemoryStateDatabase;
let clock: ManualClock;
let deps: Omit<ActivityRequestDeps, 'wait'>;

beforeEach(async () => {
  database = createMemoryStateDatabase();
  clock = createManualClock();
  const orders = createMemoryOrdersDatabase();
  await orders.createIfAbsent(anOrder());
  deps = { store: createMemoryStateStore(database), clock, orders, policy: { stepDeadlineMs } };
});

describe('the request for an agent that is an activity', () => {
  const running = (): StateRecord => advanced(advanced(claimed()), {});
  const input = { orderId: 'A-1', requestId: 'A-1.1.inventory', replyToken };
  let waits: number;
  let onWait: (count: number) => void;

  beforeEach(() => {
    waits = 0;
    onWait = () => undefined;
  });

  const requestIt = (): Promise<unknown> => {
    const wait = (ms: number): Promise<void> => {
      clock.advance(ms);
      waits += 1;
      onWait(waits);
      return Promise.resolve();
    };
    return requestForActivity(input, { ...deps, wait });
  };

  it('is built from the record and the stored order (T78)', async () => {
    database.put(running());
    expect(await requestIt()).toMatchObject({
      requestId: 'A-1.1.inventory',
      stepId: 'inventory',
      payload: { lines: [{ sku: 'KETTLE', quantity: 2 }] },
      replyToken,
    });
  });

  it('does not believe a remembered version that is older than the request', async () => {
    database.put(advanced(claimed()));
    await deps.store.get('A-1');
    database.put(running());
    expect(await requestIt()).toMatchObject({ requestId: 'A-1.1.inventory' });
  });

  it.each([
    ['absent', undefined],
    ['before the claim', aRecord()],
    ['at the step before', advanced(claimed())],
  ])('is asked for again while the record is visible only as %s', async (_name, earlier) => {
    if (earlier !== undefined) database.put(earlier);
    onWait = (count) => {
      if (count === 3) database.put(running());
    };
    expect(await requestIt()).toMatchObject({ requestId: 'A-1.1.inventory' });
    expect(waits).toBe(3);
  });

  it('is asked for again while the store is away, as long as the step has time', async () => {
    database.put(running());
    const broken = faultAt('getLatest', { 0: 'unavailable', 1: 'unavailable', 2: 'unavailable' });
    deps = { ...deps, store: faultyStore(createMemoryStateStore(database), broken) };
    expect(await requestIt()).toMatchObject({ requestId: 'A-1.1.inventory' });
    deps = { ...deps, store: faultyStore(createMemoryStateStore(database), () => 'unavailable') };
    await expect(requestIt()).rejects.toBeInstanceOf(TransientError);
    expect(clock.now() <= addMs(startOfTime, 2 * stepDeadlineMs)).toBe(true);
  });

  it('is not there any more when the attempt was superseded (T40)', async () => {
    const lost = { ...running(), processState: 'Pending', lockedBy: null } as const;
    for (const record of [lost, claimed(lost), advanced(claimed(lost))]) {
      database.put(record);
      expect(await requestIt()).toBeUndefined();
    }
    expect(waits).toBe(0);
  });
});
