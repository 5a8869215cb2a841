import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectFailed, expectOneEffectEach } from '../support/app-expect.js';
import { showRecord, submit, untilRecord, untilState, untilStatuses } from '../support/app-orders.js';
import { oldRecord, plant } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App, HttpAnswer } from '../support/app-stack.js';

const impossible = { status: 400, code: 'Impossible' };
const declined = { status: 422, code: 'Declined' };
const unavailable = { status: 503, code: 'Unavailable' };
const allSteps = ['payment', 'inventory', 'shipping'];

describe.concurrent('an operator', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '4000' });
  });
  afterAll(() => app.stop());

  const operate = (orderId: string, verb: string, body: object = { reason: 'a test' }): Promise<HttpAnswer> =>
    app.fetch(`orders/${orderId}/${verb}`, { method: 'POST', body });

  /** An order that ended in Error at its last step; another attempt will succeed. */
  const failAtShipping = async (orderId: string): Promise<void> => {
    app.remote.script({ orderId, service: 'shipping', disturbance: impossible, times: 1 });
    await submit(app, orderId);
    await expectFailed(app, orderId, { as: 'Error', reason: 'Failed', effectsLeft: ['payment', 'inventory'] });
  };

  /** An order whose inventory cannot be released, for so many calls. */
  const failUndo = async (orderId: string, times: number): Promise<void> => {
    app.remote.script({ orderId, service: 'shipping', disturbance: declined });
    app.remote.script({ orderId, service: 'inventory', operation: 'releases', disturbance: impossible, times });
    await submit(app, orderId);
    const end = { as: 'CompensationFailed', reason: 'UndoIncomplete', effectsLeft: ['inventory'] } as const;
    await expectFailed(app, orderId, end);
  };

  it('resubmits only the failed step; attempts go on counting (R103, T6, T84)', async () => {
    await failAtShipping('resubmitted');
    expect((await operate('resubmitted', 'resubmit')).status).toBe(200);
    const record = await untilState(app, 'resubmitted', 'Processed');
    expect(record).toMatchObject({ attempt: 2, failureCount: 0, error: null });
    expect(record.history.map(({ note }) => note)).toContain('resubmit: a test');
    expectOneEffectEach(app, 'resubmitted', allSteps);
    const services = app.remote.calls('resubmitted').map(({ service }) => service);
    expect(services).toEqual([...allSteps, 'shipping']);
    await untilStatuses(app, 'resubmitted', ['OrderReceived', 'OrderFailed', 'OrderCompleted']);
  });

  it('who clicks twice makes one new attempt (C50)', async () => {
    await failAtShipping('two-clicks');
    const answers = await Promise.all([operate('two-clicks', 'resubmit'), operate('two-clicks', 'resubmit')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await untilState(app, 'two-clicks', 'Processed')).toMatchObject({ attempt: 2 });
    expectOneEffectEach(app, 'two-clicks', allSteps);
  });

  it('undoes an order that ended in Error', async () => {
    await failAtShipping('undone');
    expect((await operate('undone', 'compensate')).status).toBe(200);
    await untilState(app, 'undone', 'Compensated');
    expectOneEffectEach(app, 'undone', []);
    const statuses = await untilStatuses(app, 'undone', ['OrderReceived', 'OrderFailed', 'OrderFailed']);
    expect(statuses.map(({ reason }) => reason?.code)).toEqual([undefined, 'Failed', 'Undone']);
  });

  it('has a failed undo tried again', async () => {
    await failUndo('retried', 1);
    expect((await operate('retried', 'retry-undo', { reason: 'a test', stepId: 'inventory' })).status).toBe(200);
    await untilState(app, 'retried', 'Compensated');
    expectOneEffectEach(app, 'retried', []);
    expect(app.remote.calls('retried').filter(({ operation }) => operation === 'refunds')).toHaveLength(1);
  });

  it('leaves one step as it is, on the record with the reason', async () => {
    await failUndo('skipped', 1);
    expect((await operate('skipped', 'skip-undo', { reason: 'a test', stepId: 'inventory' })).status).toBe(200);
    const record = await untilState(app, 'skipped', 'Compensated');
    expect(record.history.at(-1)).toMatchObject({ actor: 'operator', note: 'skip undo of inventory: a test' });
    expectOneEffectEach(app, 'skipped', ['inventory']);
    await untilStatuses(app, 'skipped', ['OrderReceived', 'OrderFailed', 'OrderFailed']);
  });

  it('stops a running order; what its agent still answers changes nothing', async () => {
    app.remote.script({ orderId: 'abandoned', service: 'payment', disturbance: 'hold' });
    await submit(app, 'abandoned');
    await untilRecord(app, 'abandoned', ({ steps }) => steps[0]?.state === 'Running');
    expect((await operate('abandoned', 'abandon')).status).toBe(200);
    const record = await untilState(app, 'abandoned', 'Error');
    app.remote.release('abandoned');
    await untilSuperseded('abandoned');
    expect(await showRecord(app, 'abandoned')).toEqual(record);
    expectOneEffectEach(app, 'abandoned', ['payment']);
    await untilStatuses(app, 'abandoned', ['OrderReceived', 'OrderFailed']);
  });

  it('is refused what the state does not allow, and told why (C50)', async () => {
    app.remote.script({ orderId: 'processed', service: 'payment', disturbance: unavailable, times: 1 });
    await submit(app, 'processed');
    await untilState(app, 'processed', 'Processed');
    for (const verb of ['resubmit', 'compensate', 'abandon']) {
      expect(await operate('processed', verb), verb).toMatchObject({ status: 409, json: { code: 'wrongState' } });
    }
    expect((await operate('processed', 'resubmit', {})).status).toBe(400);
  });

  it.each(['nope', '..%2Fx', 'a%3Fb', 'x'.repeat(65)])(
    'gets a 404 in JSON for the unknown order %s (C49)',
    async (id) => {
      expect(await app.fetch(`orders/${id}`)).toMatchObject({ status: 404, json: { code: 'UnknownOrder' } });
      expect(await operate(id, 'resubmit')).toMatchObject({ status: 404, json: { code: 'UnknownOrder' } });
    },
  );

  it('is told why a record cannot be read, in JSON (C49, C61)', async () => {
    await plant(app, 'newer', { ...oldRecord('newer'), schemaVersion: 99 });
    expect(await app.fetch('orders/newer')).toMatchObject({ status: 409, json: { code: 'NewerRecord' } });
    expect(await operate('newer', 'abandon')).toMatchObject({ status: 409, json: { code: 'NewerRecord' } });
  });

  it('needs the key', async () => {
    const response = await fetch(`${app.stack.hostUrl}/api/orders/nope`);
    expect(response.status).toBe(401);
  });

  async function untilSuperseded(orderId: string): Promise<void> {
    await eventually(() => {
      expect(app.log.events('attempt-superseded', orderId)).not.toEqual([]);
    });
  }
});
