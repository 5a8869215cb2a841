import { describe, expect, it } from 'vitest';
import { setIntake } from '../../functions/operator/operate.js';
import { refreshAdmission } from '../../functions/scheduler/refresh-admission.js';
import { nextIntakeMode, roomToBegin } from '../../functions/state/admission.js';
import type { Admission, IntakePause, Load } from '../../functions/state/admission.js';
import { TransientError } from '../../functions/state/errors.js';
import type { AdmissionStore } from '../../functions/state/ports.js';
import { createAdmissionGate } from '../../functions/submit/admission-gate.js';
import type { AdmissionGate } from '../../functions/submit/admission-gate.js';
import { aRecord, claimed, compensatingRecord } from '../support/builders.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import { createRecordingTelemetry } from '../support/recording.js';

const limits = { highWater: 100, lowWater: 40, maxInFlight: 10 };
const load = (pending: number, inFlight = 0, isPaused = false): Load => ({
  pending,
  inFlight,
  notBegun: 0,
  isPaused,
});

function memoryAdmissionStore(): AdmissionStore & { admission?: Admission; pause?: IntakePause; reads: number } {
  const store: AdmissionStore & { admission?: Admission; pause?: IntakePause; reads: number } = {
    reads: 0,
    readAdmission: () => {
      store.reads += 1;
      return Promise.resolve(store.admission);
    },
    writeAdmission: (admission) => {
      store.admission = admission;
      return Promise.resolve();
    },
    readPause: () => Promise.resolve(store.pause),
    changePause: (change) => {
      store.pause = change(store.pause);
      return Promise.resolve(store.pause);
    },
  };
  return store;
}

describe('intake', () => {
  it.each([
    ['open', load(0), 'open'],
    ['open', load(9), 'open'],
    ['open', load(5, 5), 'throttled'],
    ['open', load(99), 'throttled'],
    ['open', load(100), 'closed'],
    ['closed', load(99), 'closed'],
    ['closed', load(41), 'closed'],
    ['closed', load(40), 'throttled'],
    ['throttled', load(41), 'throttled'],
    ['open', load(0, 0, true), 'closed'],
    ['closed', load(0, 0, false), 'open'],
  ] as const)('that was %s is, with %o, %s (AD1)', (previous, now, expected) => {
    expect(nextIntakeMode(previous, now, limits)).toBe(expected);
  });
});

describe('attempts that the runtime has not begun', () => {
  it.each([
    [0, 5],
    [4, 1],
    [5, 0],
    [9, 0],
  ])('are at most half of what may be in flight: with %d of them there is room for %d more (AD3)', (notBegun, room) => {
    expect(roomToBegin({ notBegun }, limits)).toBe(room);
    const mode = nextIntakeMode('open', { ...load(0, notBegun), notBegun }, limits);
    expect(mode).toBe(room > 0 ? 'open' : 'throttled');
  });
});

describe('the starter’s refresh', () => {
  it('counts what waits and what runs, an undo too once it runs, and tells submit (R51)', async () => {
    const database = createMemoryStateDatabase();
    database.put(aRecord());
    database.put({ ...claimed(), id: 'B', orderId: 'B' });
    database.put({ ...claimed(compensatingRecord()), id: 'C', orderId: 'C' });
    for (const id of ['D', 'E', 'F']) database.put({ ...compensatingRecord(), id, orderId: id });
    const admission = memoryAdmissionStore();
    const telemetry = createRecordingTelemetry();
    const deps = { store: createMemoryStateStore(database), admission, clock: createManualClock(), telemetry };
    const expected = { mode: 'throttled', pending: 1, inFlight: 2, notBegun: 2, at: startOfTime };
    expect(await refreshAdmission({ ...deps, limits: { ...limits, maxInFlight: 3 } })).toEqual(expected);
    expect(admission.admission).toEqual(expected);
    expect(telemetry.count('intake-changed')).toBe(1);
    await refreshAdmission({ ...deps, limits: { ...limits, maxInFlight: 3 } });
    expect(telemetry.count('intake-changed')).toBe(1);
  });

  it('closes intake while an operator has paused it, and opens it when he takes that back', async () => {
    const admission = memoryAdmissionStore();
    const store = createMemoryStateStore();
    const deps = { store, admission, clock: createManualClock(), telemetry: createRecordingTelemetry(), limits };
    await setIntake(true, { reason: 'restore' }, deps);
    expect((await refreshAdmission(deps)).mode).toBe('closed');
    await setIntake(false, { reason: 'done' }, deps);
    expect((await refreshAdmission(deps)).mode).toBe('open');
  });

  it('keeps when and why it was paused, for the audit, and does nothing without a reason', async () => {
    const admission = memoryAdmissionStore();
    const deps = { admission, clock: createManualClock() };
    await setIntake(true, { reason: 'restore' }, deps);
    await setIntake(false, { reason: 'done' }, deps);
    expect((await setIntake(true, {}, deps)).status).toBe(400);
    expect(admission.pause?.isPaused).toBe(false);
    expect(admission.pause?.history.map(({ isPaused, reason }) => [isPaused, reason])).toEqual([
      [true, 'restore'],
      [false, 'done'],
    ]);
  });
});

describe('the gate of submit', () => {
  function gateOver(admission: AdmissionStore, clock: ManualClock): AdmissionGate {
    return createAdmissionGate({ store: admission, clock }, { maxInFlight: 3, refreshMs: 1_000 });
  }

  async function startsIn(gate: AdmissionGate, tries: number): Promise<number> {
    await gate.mode();
    return Array.from({ length: tries }, () => gate.mayStartNow()).filter(Boolean).length;
  }

  it('is open while nothing is known yet', async () => {
    expect(await gateOver(memoryAdmissionStore(), createManualClock()).mode()).toBe('open');
  });

  it('is closed to all messages that come at once when a new process finds intake closed (T52)', async () => {
    const admission = memoryAdmissionStore();
    await admission.writeAdmission({ mode: 'closed', pending: 100, inFlight: 0, notBegun: 0, at: startOfTime });
    const readAdmission: AdmissionStore['readAdmission'] = async () => {
      await new Promise(setImmediate);
      return admission.readAdmission();
    };
    const gate = gateOver({ ...admission, readAdmission }, createManualClock());
    const modes = await Promise.all(Array.from({ length: 5 }, () => gate.mode()));
    expect(modes).toEqual(Array.from({ length: 5 }, () => 'closed'));
    expect(admission.reads).toBe(1);
  });

  it('lets nobody pass while the control document can’t be read, and asks again', async () => {
    const admission = memoryAdmissionStore();
    await admission.writeAdmission({ mode: 'closed', pending: 100, inFlight: 0, notBegun: 0, at: startOfTime });
    let isDown = true;
    const readAdmission: AdmissionStore['readAdmission'] = () =>
      isDown ? Promise.reject(new TransientError('no answer')) : admission.readAdmission();
    const gate = gateOver({ ...admission, readAdmission }, createManualClock());
    for (let count = 0; count < 2; count += 1) await expect(gate.mode()).rejects.toBeInstanceOf(TransientError);
    isDown = false;
    expect(await gate.mode()).toBe('closed');
  });

  it('reads the control document at most once in its time', async () => {
    const admission = memoryAdmissionStore();
    const clock = createManualClock();
    const gate = gateOver(admission, clock);
    for (let count = 0; count < 10; count += 1) await gate.mode();
    expect(admission.reads).toBe(1);
    clock.advance(1_000);
    await gate.mode();
    expect(admission.reads).toBe(2);
  });

  it('allows as many eager starts as the limit leaves, and more only after the next count', async () => {
    const admission = memoryAdmissionStore();
    const clock = createManualClock();
    const gate = gateOver(admission, clock);
    await admission.writeAdmission({ mode: 'open', pending: 0, inFlight: 1, notBegun: 0, at: startOfTime });
    expect(await startsIn(gate, 5)).toBe(2);
    clock.advance(1_000);
    await admission.writeAdmission({ mode: 'open', pending: 0, inFlight: 0, notBegun: 0, at: clock.now() });
    expect(await startsIn(gate, 5)).toBe(3);
  });

  it('never runs out of eager starts while the load stays light', async () => {
    const admission = memoryAdmissionStore();
    const clock = createManualClock();
    const gate = gateOver(admission, clock);
    const store = createMemoryStateStore();
    const deps = {
      store,
      admission,
      clock,
      telemetry: createRecordingTelemetry(),
      limits: { ...limits, maxInFlight: 3 },
    };
    for (let count = 0; count < 20; count += 1) {
      await refreshAdmission(deps);
      expect(await startsIn(gate, 1)).toBe(1);
      clock.advance(1_000);
    }
  });

  it.each(['throttled', 'closed'] as const)('allows no eager start when intake is %s', async (mode) => {
    const admission = memoryAdmissionStore();
    await admission.writeAdmission({ mode, pending: 0, inFlight: 0, notBegun: 0, at: startOfTime });
    expect(await startsIn(gateOver(admission, createManualClock()), 3)).toBe(0);
  });
});
