import { beforeEach, describe, expect, it } from 'vitest';
import { createBulkhead } from '../../functions/agents/bulkhead.js';
import type { Bulkhead, Place } from '../../functions/agents/bulkhead.js';
import { createManualClock } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';

const limits = { calls: 4, callsAfterFailure: 2, waiting: 2 };
const hangAfterMs = 1_000;

let clock: ManualClock;
let timers: { readonly ms: number; readonly fire: () => void }[];
let bulkhead: Bulkhead;
beforeEach(() => {
  clock = createManualClock();
  timers = [];
  const wait = (ms: number): Promise<void> => new Promise((fire) => timers.push({ ms, fire }));
  bulkhead = createBulkhead(limits, hangAfterMs, { clock, wait });
});

async function fill(calls: number, afterFailure = false): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (let count = 0; count < calls; count += 1) {
    const place = await bulkhead.enter(afterFailure);
    if (place === undefined) throw new Error('expected a place');
    places.push(place);
  }
  return places;
}

/** What has become of a request that asked for a place, as far as can be told now. */
async function stateOf(entering: Promise<Place | undefined>): Promise<'entered' | 'refused' | 'waiting'> {
  const ended = entering.then((place) => (place === undefined ? 'refused' : 'entered'));
  const turnsLater = new Promise<'waiting'>((resolve) => setImmediate(resolve, 'waiting'));
  return Promise.race([ended, turnsLater]);
}

function letTimePass(ms: number): void {
  clock.advance(ms);
  for (const timer of timers.splice(0)) {
    if (timer.ms <= ms) timer.fire();
    else timers.push({ ...timer, ms: timer.ms - ms });
  }
}

describe('the places for calls of an agent', () => {
  it('let another call in at once beside calls that hang, as long as one place is free (BH1)', async () => {
    await fill(limits.calls - 1);
    clock.advance(3_600_000);
    expect(await stateOf(bulkhead.enter(false))).toBe('entered');
    expect(timers).toEqual([]);
  });

  it('refuse a further call at once when all calls hang (BH2)', async () => {
    await fill(limits.calls);
    clock.advance(hangAfterMs);
    expect(await stateOf(bulkhead.enter(false))).toBe('refused');
  });

  it('let a call wait while others may still be answered, until one of them is (BH2)', async () => {
    const [place] = await fill(limits.calls);
    const entering = bulkhead.enter(false);
    expect(await stateOf(entering)).toBe('waiting');
    place?.leave();
    expect(await stateOf(entering)).toBe('entered');
  });

  it('let a call wait no longer than until the last of the others hangs, too (BH2)', async () => {
    await fill(limits.calls - 1);
    clock.advance(600);
    await fill(1);
    const entering = bulkhead.enter(false);
    letTimePass(999);
    expect(await stateOf(entering)).toBe('waiting');
    letTimePass(1);
    expect(await stateOf(entering)).toBe('refused');
  });

  it('serve those that wait in their order', async () => {
    const [place] = await fill(limits.calls);
    const first = bulkhead.enter(false);
    const second = bulkhead.enter(false);
    place?.leave();
    expect([await stateOf(first), await stateOf(second)]).toEqual(['entered', 'waiting']);
  });

  it('let only so many wait (BH2)', async () => {
    await fill(limits.calls);
    const waiting = Array.from({ length: limits.waiting }, () => bulkhead.enter(false));
    expect(await stateOf(bulkhead.enter(false))).toBe('refused');
    expect(await Promise.all(waiting.map(stateOf))).toEqual(['waiting', 'waiting']);
  });

  it('leave steps that have failed before a part only, and refuse more of them at once (BH3)', async () => {
    await fill(limits.callsAfterFailure, true);
    expect(await stateOf(bulkhead.enter(true))).toBe('refused');
    expect(await fill(limits.calls - limits.callsAfterFailure)).toHaveLength(2);
  });

  it('give the place of a step that has failed before to the next such step when its call has ended', async () => {
    const [place] = await fill(limits.callsAfterFailure, true);
    place?.leave();
    expect(await stateOf(bulkhead.enter(true))).toBe('entered');
  });
});
