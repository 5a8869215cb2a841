import { beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../functions/state/errors.js';
import { handleHint } from '../../functions/supervisor/handle-hint.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { createSupervisorWorld, now, policy } from '../support/supervisor-world.js';

let { answerStates, clock, database, deps, expired, orchestrations, run, telemetry } = createSupervisorWorld();

beforeEach(() => {
  ({ answerStates, clock, database, deps, expired, orchestrations, run, telemetry } = createSupervisorWorld());
});

describe('before it recovers an order, the supervisor asks the runtime about its attempt', () => {
  it('and counts no failure for an attempt that the runtime has failed or never started (T2, T42)', async () => {
    for (const [orderId, state] of [
      ['failed', 'stopped'],
      ['never-started', 'unknown'],
    ] as const) {
      answerStates(state);
      expired(orderId, 10_000);
      expect(await run()).toMatchObject({ recovered: 1 });
      expect(database.record(orderId)).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 0 });
    }
    expect(telemetry.count('attempt-expired')).toBe(0);
    expect(
      telemetry.events.filter(({ name }) => name === 'attempt-late').map(({ fields }) => fields?.['instance']),
    ).toEqual(['stopped', 'unknown']);
  });

  it('and gives more time to one that is under way, until it frees the order and ends the attempt (T40)', async () => {
    answerStates('underWay');
    expired('A-1', 10_000);
    const renewals = Array.from({ length: 5 }, () => ({ renewed: 1 }));
    for (const outcome of [...renewals, { recovered: 1 }]) {
      expect(await run()).toMatchObject({ recovered: 0, renewed: 0, ...outcome });
      clock.advance(policy.claimLeaseMs + policy.graceMs + 1);
    }
    expect(database.record('A-1')).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 0 });
    expect(orchestrations.calls).toEqual(['terminate A-1.1']);
  });

  it('and leaves the order alone in this run when the runtime cannot answer', async () => {
    expired('A-1', 10_000);
    const instanceState = (): Promise<never> => Promise.reject(new TransientError('no runtime'));
    const broken = { ...deps, orchestrations: { ...orchestrations, instanceState } };
    expect(await recoverExpired(broken)).toMatchObject({ recovered: 0, failed: 1 });
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', failureCount: 0 });
    expect(telemetry.alerts).toEqual([]);
  });

  it('and does not mind that an attempt cannot be ended', async () => {
    answerStates('underWay');
    const renewal = {
      actor: 'supervisor',
      from: 'Processing',
      to: 'Processing',
      at: now,
      attempt: 1,
      note: '',
    } as const;
    expired('A-1', 10_000, { history: Array.from({ length: 5 }, () => renewal) });
    const terminate = (): Promise<never> => Promise.reject(new TransientError('no runtime'));
    const broken = { ...deps, orchestrations: { ...deps.orchestrations, terminate } };
    expect(await recoverExpired(broken)).toMatchObject({ recovered: 1 });
  });
});

describe('a hint of an attempt that has ended', () => {
  const requestId = 'A-1.1.payment';
  const hintOf = (ending: string, request = requestId): Promise<unknown> =>
    handleHint({ schemaVersion: 1, orderId: 'A-1', requestId: request, ending }, deps);

  it.each([
    ['timedOut', 1],
    ['stopped', 0],
  ])(
    'and says that it %s frees the order without a question to the runtime, and counts %d failures',
    async (ending, count) => {
      answerStates('underWay');
      expired('A-1', -2_000);
      await hintOf(ending);
      expect(database.record('A-1')).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: count });
    },
  );

  it('but is no longer the present one changes nothing', async () => {
    expired('A-1', 10_000);
    for (const request of ['A-1.0.payment', 'A-1.1.shipping']) await hintOf('timedOut', request);
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', failureCount: 0 });
  });
});

describe('a hint', () => {
  const hint = (orderId: string): Promise<unknown> => handleHint({ schemaVersion: 1, orderId }, deps);

  it('lets the supervisor look at once at the order it names', async () => {
    expired('A-1', 10_000);
    expect(await hint('A-1')).toBeUndefined();
    expect(database.record('A-1').processState).toBe('Pending');
  });

  it('is only a hint: an order that needs nothing is no error', async () => {
    answerStates('underWay');
    expired('alive', -10_000);
    for (const orderId of ['alive', 'unknown']) expect(await hint(orderId)).toBeUndefined();
    expect(database.record('alive').failureCount).toBe(0);
  });

  it('that comes twice counts one failure', async () => {
    expired('A-1', 10_000);
    await Promise.all([hint('A-1'), hint('A-1'), run()]);
    expect(database.record('A-1').failureCount).toBe(1);
  });

  it('that only a newer build can read is dropped, not kept as a dead letter', async () => {
    expect(await handleHint({ schemaVersion: 99, orderId: 'A-1' }, deps)).toBeUndefined();
    expired('newer', 10_000, { schemaVersion: 99 as never });
    expired('malformed', 10_000, { failureCount: -1 });
    for (const orderId of ['newer', 'malformed']) expect(await hint(orderId)).toBeUndefined();
    expect(telemetry.alerts).toEqual([]);
  });

  it('that breaks its contract is refused', async () => {
    expect(await handleHint('{bad', deps)).toMatchObject({ reason: 'InvalidMessage' });
  });
});
