import type * as azureFunctions from '@azure/functions';
import type { InvocationContext, TimerFunctionOptions, TimerHandler } from '@azure/functions';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectProcessed } from '../support/app-expect.js';
import { aMinuteAgo, oldRecord, plant } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const never = '0 0 0 1 1 *';

const timers = new Map<string, TimerHandler>();

vi.mock('@azure/functions', async (original) => {
  const { app, ...others } = await original<typeof azureFunctions>();
  const timer = (name: string, { handler }: TimerFunctionOptions): void => void timers.set(name, handler);
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
    const context = { info: () => undefined, error: () => undefined } as unknown as InvocationContext;
    const argument = {} as Parameters<TimerHandler>[0];
    await timers.get('supervisor')?.(argument, context);
    expect(await expectProcessed(app, 'expired')).toMatchObject({ attempt: 2, failureCount: 1 });
  });
});
