import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { showRecord, submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('an attempt that waits for an agent in the app', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '2500' });
  });
  afterEach(() => app.stack.setFaults('functions-host'));
  afterAll(() => app.stop());

  const historyOf = async (instanceId: string): Promise<readonly string[]> => {
    const { historyEvents } = (await app.instance(instanceId)) ?? {};
    return (historyEvents as readonly { readonly EventType: string }[]).map(({ EventType }) => EventType);
  };

  it('cannot cancel it past the deadline: the next attempt does the step, and the late result is dropped (C102)', async () => {
    const rules = [{ operation: 'activity', entity: 'inventory', action: 'pause', times: 1 } as const];
    await app.stack.setFaults('functions-host', { seed: 1, rules });
    await submit(app, 'outlived');
    const record = await expectProcessed(app, 'outlived');
    expect(record).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(await app.instance('outlived.1')).toMatchObject({ runtimeStatus: 'Running' });
    expect(await historyOf('outlived.1')).toContain('TimerFired');

    await app.stack.setFaults('functions-host');
    await eventually(async () => {
      expect(await app.instance('outlived.1')).toMatchObject({ runtimeStatus: 'Completed' });
    });
    expect(await showRecord(app, 'outlived')).toEqual(record);
    const toInventory = app.remote.calls('outlived').filter(({ service }) => service === 'inventory');
    expect(toInventory.map(({ token }) => token)).toEqual([2]);
    await expectProcessed(app, 'outlived');
  });

  it('starts no sub-orchestration, which nobody could cancel either (C102)', async () => {
    await submit(app, 'flat');
    await expectProcessed(app, 'flat');
    const kinds = await historyOf('flat.1');
    expect(kinds).toContain('TaskScheduled');
    expect(kinds.filter((kind) => kind.startsWith('SubOrchestration'))).toEqual([]);
  });
});
