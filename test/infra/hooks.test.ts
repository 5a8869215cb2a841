import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startBroker } from '../../local/service-bus/index.js';
import type { Broker } from '../../local/service-bus/index.js';
import { projectRoot } from './support/bicep.js';
import { fakeAzure, runHook } from './support/fake-azure.js';
import type { Answer } from './support/fake-azure.js';

const app = '/subscriptions/sub/resourceGroups/rg-test/providers/Microsoft.Web/sites/func-test';
const noSmokeOrder = { SMOKE_ORDER: 'false', FUNCTION_LIST_PAUSE_SECONDS: '0.01', HEALTH_PAUSE_SECONDS: '0.01' };

function expectFunctions(names: readonly string[]): void {
  mkdirSync(join(projectRoot, '.local'), { recursive: true });
  writeFileSync(join(projectRoot, '.local', 'functions.json'), JSON.stringify(names));
}

function functionList(names: readonly string[]): object {
  return { value: names.map((name) => ({ name: `func-test/${name}` })) };
}

describe('azure.yaml', () => {
  it('runs every hook with Node, none with a shell (C81)', () => {
    const text = readFileSync(join(projectRoot, 'azure.yaml'), 'utf8');
    const hooks = [...text.matchAll(/run: (\S+)\n\s+kind: (\w+)/g)];
    expect(hooks).toHaveLength([...text.matchAll(/run:/g)].length);
    for (const [, file, kind] of hooks) {
      expect(kind).toBe('js');
      expect(existsSync(join(projectRoot, String(file)))).toBe(true);
    }
  });
});

/** The environment of a deployment with simulated remote services. */
const demonstration = { DEMO_REMOTES_ENABLED: 'true' };

describe('preprovision', () => {
  it('chooses the first month of a budget once', async () => {
    const azure = await fakeAzure(() => [404, {}]);
    expect(await azure.run('preprovision.mjs', { ...demonstration, BUDGET_AMOUNT: '100' })).toMatchObject({
      status: 0,
      errors: '',
    });
    expect(azure.stored()['BUDGET_START_DATE']).toMatch(/^\d{4}-\d{2}-01$/);
  });

  it('keeps the month of a budget that exists, and needs none without a budget', async () => {
    const azure = await fakeAzure(() => [404, {}]);
    await azure.run('preprovision.mjs', {
      ...demonstration,
      BUDGET_AMOUNT: '100',
      BUDGET_START_DATE: '2026-01-01',
    });
    await azure.run('preprovision.mjs', { ...demonstration, BUDGET_AMOUNT: '0' });
    expect(azure.stored()).toEqual({});
  });

  it('deploys simulated remote services only if somebody asks for them', async () => {
    const azure = await fakeAzure(() => [404, {}]);
    const some = ['PAYMENT_URL', 'INVENTORY_URL'].map((name) => `${name}=https://example.com`);
    const all = [...some, 'SHIPPING_URL=https://example.com', 'INVOICE_URL=https://example.com'];
    const refused = await azure.run('preprovision.mjs', { SETTING_OVERRIDES: JSON.stringify(some) });
    expect(refused.status).toBe(1);
    expect(refused.errors).toContain('give SHIPPING_URL, INVOICE_URL in SETTING_OVERRIDES');
    expect(refused.errors).toContain('azd env set DEMO_REMOTES_ENABLED true');
    expect((await azure.run('preprovision.mjs')).errors).toContain('give PAYMENT_URL, INVENTORY_URL,');
    for (const environment of [{ SETTING_OVERRIDES: JSON.stringify(all) }, demonstration]) {
      expect(await azure.run('preprovision.mjs', environment)).toMatchObject({ status: 0, errors: '' });
    }
  });
});

describe('postprovision', () => {
  const assignment = (createdOn: string): object => ({ value: [{ properties: { createdOn } }] });

  it('waits for fresh rights on the storage account', async () => {
    const azure = await fakeAzure(() => [200, assignment(new Date().toISOString())]);
    const result = await azure.run('postprovision.mjs', { ROLE_PROPAGATION_SECONDS: '0.5' });
    expect(result).toMatchObject({ status: 0, errors: '' });
    expect(result.output).toBe("Waiting 1 s for the app's rights on the storage account.\n");
    expect(azure.calls).toEqual([expect.stringContaining('/storageAccounts/sttest/providers/Microsoft.Authorization')]);
  });

  it('does not wait for rights of an earlier deployment', async () => {
    const azure = await fakeAzure(() => [200, assignment('2026-01-01T00:00:00Z')]);
    expect(await azure.run('postprovision.mjs')).toEqual({ status: 0, output: '', errors: '' });
  });

  it('says in one line what Azure refused', async () => {
    const azure = await fakeAzure(() => [403, { error: { code: 'AuthorizationFailed' } }]);
    const result = await azure.run('postprovision.mjs');
    expect(result.status).toBe(1);
    expect(result.errors).toMatch(/^GET \/subscriptions\/.* failed with 403: .*AuthorizationFailed.*\n$/);
  });

  it('says how to run it when a value of the environment is missing', async () => {
    const azure = await fakeAzure(() => [200, { value: [] }]);
    const result = await azure.run('postprovision.mjs', { STORAGE_ACCOUNT_NAME: '' });
    expect(result.status).toBe(1);
    expect(result.errors).toMatch(/^STORAGE_ACCOUNT_NAME is not set\. Run the hook through azd/);
  });

  it('says what to install when there is no azd', async () => {
    const result = await runHook('postprovision.mjs', { PATH: '' });
    expect(result.status).toBe(1);
    expect(result.errors).toContain('Install the Azure Developer CLI');
  });
});

/** A deployed app that is healthy, or reports what is given, and whose functions Azure lists as told. */
function deployed(list: () => readonly string[], health: () => Answer = () => [200, { status: 'healthy' }]) {
  return (call: string): Answer => {
    if (call.endsWith('/listkeys')) return [200, { functionKeys: { default: 'fake-key' } }];
    if (call === 'GET /api/health') return health();
    return call.startsWith('POST') ? [200, {}] : [200, functionList(list())];
  };
}

describe('postdeploy', () => {
  it('synchronises the host until Azure lists every function of the package', async () => {
    expectFunctions(['starter', 'submit', 'supervisor']);
    const lists = [[], ['submit'], ['submit', 'starter', 'supervisor']];
    const azure = await fakeAzure(deployed(() => lists.shift() ?? []));
    const result = await azure.run('postdeploy.mjs', noSmokeOrder);
    expect(result).toMatchObject({ status: 0, errors: '' });
    expect(result.output).toContain('All 3 functions are there.');
    const sync = `POST ${app}/host/default/sync`;
    expect(azure.calls.filter((call) => call === sync)).toHaveLength(4); // One before the app is asked for its health.
  });

  it('names the functions that never appear, and what to do', async () => {
    expectFunctions(['starter', 'submit', 'supervisor']);
    const azure = await fakeAzure(deployed(() => ['submit']));
    const result = await azure.run('postdeploy.mjs', { ...noSmokeOrder, FUNCTION_LIST_SECONDS: '0' });
    expect(result.status).toBe(1);
    expect(result.errors).toContain('does not list these functions: starter, supervisor. Run "azd deploy" again');
  });

  it('fails with every wrong setting that the app names, although Azure says that the app runs', async () => {
    expectFunctions(['health', 'submit']);
    const problems = ['COSMOS_DATABASE: is not set', 'STEP_DEADLINE_MS: expected at most 300000'];
    const azure = await fakeAzure(
      deployed(
        () => ['health'],
        () => [503, { status: 'misconfigured', problems }],
      ),
    );
    const result = await azure.run('postdeploy.mjs', noSmokeOrder);
    expect(result.status).toBe(1);
    for (const problem of problems) expect(result.errors).toContain(`\n  ${problem}\n`);
    expect(azure.calls.filter((call) => call === 'GET /api/health')).toHaveLength(1);
  });

  it('waits for rights that have just been granted before it believes an unhealthy app', async () => {
    expectFunctions(['submit']);
    const reports: Answer[] = [
      [404, {}],
      [503, { status: 'unhealthy', problems: ['403'] }],
      [200, { status: 'healthy' }],
    ];
    const azure = await fakeAzure(
      deployed(
        () => ['submit'],
        () => reports.shift() ?? [500, {}],
      ),
    );
    expect(await azure.run('postdeploy.mjs', noSmokeOrder)).toMatchObject({ status: 0, errors: '' });
    expect(reports).toEqual([]);
  });

  it.each([
    [
      'the problems of an app that stays unhealthy',
      [503, { status: 'unhealthy', problems: ['no rights'] }],
      'no rights',
    ],
    ['how an app answers that cannot be loaded', [404, {}], '/api/health answers 404'],
  ] as const)('says in the end %s', async (_what, answer, line) => {
    const azure = await fakeAzure(
      deployed(
        () => [],
        () => answer,
      ),
    );
    const result = await azure.run('postdeploy.mjs', { ...noSmokeOrder, HEALTH_SECONDS: '0' });
    expect(result.status).toBe(1);
    expect(result.errors).toContain(line);
  });

  it.each([
    [{ DEMO_REMOTES_ENABLED: 'false', SMOKE_APPLICATION: 'web-shop' }, 'the agents call real remote services'],
    [{ SMOKE_APPLICATION: 'web-shop' }, 'the agents call real remote services'],
    [{ ...demonstration, VNET_ENABLED: 'true', SMOKE_APPLICATION: 'web-shop' }, 'only from inside the virtual network'],
    [{ ...demonstration, SMOKE_APPLICATION: '' }, 'nobody was named to send it'],
  ])('sends no smoke order where that cannot or must not work: %j', async (environment, reason) => {
    expectFunctions(['submit']);
    const azure = await fakeAzure(deployed(() => ['submit']));
    const result = await azure.run('postdeploy.mjs', environment);
    expect(result.status).toBe(0);
    expect(result.output).toContain(`No smoke order: `);
    expect(result.output).toContain(reason);
  });
});

describe('the smoke order', () => {
  /** A broker, and an app that ends each order in the given way. */
  async function brokerWithApp(statuses: readonly object[]): Promise<Broker> {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'smoke-'));
    const topology: unknown = JSON.parse(readFileSync(join(projectRoot, 'infra', 'topology.json'), 'utf8'));
    const broker = await startBroker({ dataDirectory, fsync: 'never', topology });
    const client = new ServiceBusClient(broker.connectionString);
    const sender = client.createSender('status-web-shop');
    client.createReceiver('orders').subscribe({
      processMessage: async ({ body }) => {
        const { orderId } = body as { orderId: string };
        for (const [seq, status] of statuses.entries()) {
          const at = '2026-01-01T00:00:00.000Z';
          const message = { schemaVersion: 1, orderId, seq: seq + 1, at, ...status };
          await sender.sendMessages({ messageId: `${orderId}.${seq + 1}`, body: message });
        }
      },
      processError: () => Promise.resolve(),
    });
    onTestFinished(async () => {
      await client.close();
      await broker.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    });
    return broker;
  }

  it('is sent as an application sends it, and its end is printed', async () => {
    const broker = await brokerWithApp([{ status: 'OrderReceived' }, { status: 'OrderCompleted' }]);
    const result = await runHook('smoke-order.mjs', {
      ServiceBusConnection: broker.connectionString,
      SMOKE_APPLICATION: 'web-shop',
    });
    expect(result.errors).toBe('');
    expect(result.output).toMatch(/Sending the smoke order (smoke-\d{14})\.\nSmoke order \1: OrderCompleted\.\n/);
    expect(result.status).toBe(0);
  });

  it('fails the deployment when the order fails, with the public reason', async () => {
    const reason = { code: 'Failed', message: 'The order could not be finished.' };
    const broker = await brokerWithApp([{ status: 'OrderReceived' }, { status: 'OrderFailed', reason }]);
    const result = await runHook('smoke-order.mjs', {
      ServiceBusConnection: broker.connectionString,
      SMOKE_APPLICATION: 'web-shop',
    });
    expect(result.output).toContain('OrderFailed (Failed: The order could not be finished.)');
    expect(result.errors).toBe('The smoke order did not complete.\n');
    expect(result.status).toBe(1);
  });

  it('says where to look when no status comes', async () => {
    const broker = await brokerWithApp([]);
    const result = await runHook('smoke-order.mjs', {
      ServiceBusConnection: broker.connectionString,
      SMOKE_APPLICATION: 'web-shop',
      SMOKE_ORDER_SECONDS: '1',
    });
    expect(result.status).toBe(1);
    expect(result.errors).toContain('look at the traces of the function submit');
  });
});
