import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleOrder } from '../../cli/orders/example-order.js';
import { createOrderClient } from '../../client/index.js';
import { startStack } from '../../local/stack.js';
import type { Stack } from '../../local/stack.js';
import { projectRoot, runScript } from '../infra/support/bicep.js';
import { eventually } from '../support/app-eventually.js';
import { invokeFunction } from '../support/app-stack.js';

describe('the deployment package on the embedded stack', () => {
  const appDirectory = mkdtempSync(join(tmpdir(), 'deployment-package-'));
  const lines: string[] = [];
  let stack: Stack;

  beforeAll(async () => {
    const { status, errors } = runScript('infra/package/stage.mjs', [appDirectory]);
    expect(status, errors).toBe(0);
    const settingsFile = 'local.settings.sample.json';
    cpSync(join(projectRoot, settingsFile), join(appDirectory, settingsFile));
    stack = await startStack({ appDirectory, log: (line) => lines.push(line) });
  });
  afterAll(async () => {
    await stack.stop();
    rmSync(appDirectory, { recursive: true, force: true });
  });

  it('processes an order, although no library is installed beside it', async () => {
    const client = createOrderClient({ serviceBus: stack.connectionString, application: 'web-shop' });
    await client.submitOrder(exampleOrder('packaged'));
    expect(await client.waitForStatus('packaged', { timeoutMs: 30_000 })).toMatchObject({ status: 'OrderCompleted' });
    await client.close();
  });

  it('has no orchestrator that the host takes for nondeterministic', async () => {
    expect(await stack.counters('functions-host')).not.toHaveProperty(['determinism.violations']);
    expect(lines.filter((line) => line.includes('not deterministic'))).toEqual([]);
  });

  it('names TypeScript lines in the stack traces of its errors', async () => {
    await stack.setFaults('cosmos-db', { seed: 1, rules: [{ operation: 'query', action: 'refuse', error: '400' }] });
    await invokeFunction(stack, 'starter');
    await eventually(() => {
      expect(lines.join('\n')).toMatch(/at .*functions\/scheduler\/[a-z-]+\.ts:\d+:\d+/);
    });
  });
});
