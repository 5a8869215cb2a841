import { describe, expect, it, onTestFinished } from 'vitest';
import { startStack } from '../../local/stack.js';
import { startApp } from '../support/app-stack.js';

describe('an app with a setting that cannot work', () => {
  it('does not start on the local stack, which names each wrong setting', async () => {
    const settings = { COSMOS_DATABASE: '', STEP_DEADLINE_MS: '300001' };
    const starting = startStack({ settings });
    onTestFinished(async () => {
      await starting.then(
        (stack) => stack.stop(),
        () => undefined,
      );
    });
    await expect(starting).rejects.toThrow(/COSMOS_DATABASE: is not set\n.*STEP_DEADLINE_MS: expected at most 300000/s);
  });
});

describe('the health of a running app', () => {
  it('is asked with a key, and is bad while the state store is away', async () => {
    const app = await startApp();
    onTestFinished(() => app.stop());
    expect(await app.fetch('health')).toEqual({ status: 200, json: { status: 'healthy' } });
    expect((await fetch(new URL('/api/health', app.stack.hostUrl))).status).toBe(401);
    await app.stack.kill('cosmos-db');
    const { status, json } = await app.fetch('health');
    expect(status).toBe(503);
    expect(json).toMatchObject({ status: 'unhealthy' });
  });
});
