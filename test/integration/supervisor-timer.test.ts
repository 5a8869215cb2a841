import type * as azureFunctions from '@azure/functions';
import type { InvocationContext, TimerFunctionOptions, TimerHandler } from '@azure/functions';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectProcessed } from '../support/app-expect.js';
import { aMinuteAgo, oldRecord, plant } from '../support/app-records.js';
import { mustFind } from '../support/builders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const never = '0 0 0 1 1 *';

const timers = new Map<string, TimerFunctionOptions>();

vi.mock('@azure/functions', async (original) => {
  const { app, ...others } = await original<typeof azureFunctions>();
  const timer = (name: string, options: TimerFunctionOptions): void => void timers.set(name, options);
  return { ...others, app: { ...app, timer } };
});

describe('the timer of the supervisor', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ SUPERVISOR_SCHEDULE: never });
    for (const [name, value] of Object.entries(app.stack.settings)) vi.stubEnv(name, value);
    await import('../../functions/supervisor/supervisor.function.js');
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await app.stop();
  });

  it('recovers what has expired although its argument does not say whether it is late (C82)', async () => {
    const claim = { processState: 'Processing', attempt: 1, lockedBy: 'expired.1', completeBy: aMinuteAgo() } as const;
    await plant(app, 'expired', oldRecord('expired', claim));
    const { handler, extraInputs } = mustFind(timers.get('supervisor'));
    const argument = {} as Parameters<TimerHandler>[0];
    await handler(argument, contextWith(extraInputs));
    expect(await expectProcessed(app, 'expired')).toMatchObject({ attempt: 2, failureCount: 0 });
  });

  /** The context of an invocation, with a durable client of the running host. */
  function contextWith(extraInputs: TimerFunctionOptions['extraInputs']): InvocationContext {
    const rpcBaseUrl = `${app.stack.hostUrl}/durabletask/`;
    const client = { taskHubName: 'orders', creationUrls: {}, managementUrls: {}, rpcBaseUrl };
    const silent = { info: () => undefined, error: () => undefined };
    const context = { ...silent, options: { extraInputs }, extraInputs: { get: () => client } };
    return context as unknown as InvocationContext;
  }
});
