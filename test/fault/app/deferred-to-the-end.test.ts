import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StateRecord } from '../../../functions/state/state-record.js';
import { eventually } from '../../support/app-eventually.js';
import { expectFailed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { aMinuteAgo } from '../../support/app-records.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const deferrals = 3;
const patience = { withinMs: 40_000 };
const anHour = '3600000';
const tenHours = '36000000';

const inAMinute = (): string => new Date(Date.now() + 60_000).toISOString();

/** One agent behind queues, one in the app; and what is done before its step. */
const agents = [
  { service: 'payment', before: [] },
  { service: 'inventory', before: ['payment'] },
] as const;

describe.concurrent.each(agents)('an order whose $service agent defers it, while the circuit stays open,', (agent) => {
  const { service, before } = agent;
  let app: App;
  beforeAll(async () => {
    app = await startApp({ BREAKER_FAILURES: '2', BREAKER_OPEN_MS: anHour, ORDER_LIFETIME_MS: tenHours });
    app.remote.script({ orderId: 'unlucky', service, disturbance: { status: 503, code: 'Down' } });
    await submit(app, 'unlucky');
    await eventually(() => {
      expect(app.log.events('agent-silent', 'unlucky')).not.toEqual([]);
    }, patience);
  }, 90_000);
  afterAll(() => app.stop());

  /** Moves the order's times, as if it had waited. Nobody else writes a record that is not due. */
  const move = async (orderId: string, times: Partial<StateRecord>): Promise<void> => {
    const item = app.database.container('order-state').item(orderId, orderId);
    const { resource } = await item.read<StateRecord>();
    await item.replace({ ...resource, ...times });
  };
  const untilDeferred = (orderId: string, attempt: number): Promise<StateRecord> =>
    untilRecord(app, orderId, (record) => record.processState === 'Pending' && record.attempt === attempt, patience);

  /** The steps as they were after the first deferral, with the deferrals that the waits grow by. */
  const deferredSteps = ({ steps }: StateRecord, count: number): StateRecord['steps'] =>
    steps.map((step) => (step.id === service ? { ...step, deferrals: count } : step));

  const expectGivenUp = async (orderId: string): Promise<StateRecord> => {
    const record = await expectFailed(app, orderId, { as: 'Error', reason: 'Failed', effectsLeft: before, patience });
    expect(record.error).toMatchObject({ code: 'Expired', stepId: service });
    expect(app.log.alerts(orderId)).toEqual(['order-needs-operator']);
    return record;
  };

  it('loses no attempt and no call of its budget however often, and ends once with its lifetime (T67)', async () => {
    await submit(app, 'patient');
    const first = await untilDeferred('patient', 1);
    for (let attempt = 2; attempt <= deferrals; attempt += 1) {
      await move('patient', { notBefore: aMinuteAgo() });
      const { failureCount, budget, steps, error } = await untilDeferred('patient', attempt);
      expect({ failureCount, error }).toEqual({ failureCount: 0, error: null });
      expect({ budget, steps }).toEqual({ budget: first.budget, steps: deferredSteps(first, attempt) });
    }

    await move('patient', { notBefore: aMinuteAgo(), expiresAt: aMinuteAgo() });
    await expectGivenUp('patient');
    expect(app.remote.calls('patient').map((call) => call.service)).toEqual(before);
  }, 90_000);

  it('is not put off to a time when its lifetime is over (T67)', async () => {
    await submit(app, 'short-lived');
    await untilDeferred('short-lived', 1);
    await move('short-lived', { notBefore: aMinuteAgo(), expiresAt: inAMinute() });
    const { error, expiresAt } = await expectGivenUp('short-lived');
    expect(String(error?.at) < expiresAt).toBe(true);
  }, 90_000);
});
