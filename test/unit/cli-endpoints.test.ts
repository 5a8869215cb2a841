import { describe, expect, it } from 'vitest';
import { findEndpoints } from '../../cli/endpoints.js';
import { CommandError } from '../../cli/errors.js';

const connectionString =
  'Endpoint=sb://127.0.0.1:5672;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=true';
const stack = {
  connectionString,
  cosmosEndpoint: 'http://127.0.0.1:8081/',
  cosmosKey: 'key',
  hostUrl: 'http://127.0.0.1:7071',
  hostKey: 'local-key',
  pid: 1,
  dataDirectory: '/data',
};

describe('the endpoints', () => {
  it('are those of the running local stack', async () => {
    const endpoints = findEndpoints({ environment: {}, findStack: () => stack });
    expect(endpoints.app()).toMatchObject({ url: 'http://127.0.0.1:7071', key: 'local-key' });
    const client = endpoints.serviceBus();
    expect(client.fullyQualifiedNamespace).toBe('127.0.0.1');
    await client.close();
  });

  it('say how to start a stack when none runs', () => {
    const endpoints = findEndpoints({ environment: {}, findStack: () => undefined });
    expect(() => endpoints.app()).toThrow(/npm run local/);
    expect(() => endpoints.serviceBus()).toThrow(CommandError);
  });

  it('say why it is not known whether a stack runs', () => {
    const findStack = (): never => {
      throw new Error('stack.json cannot be read (EACCES).');
    };
    const endpoints = findEndpoints({ environment: {}, findStack });
    expect(() => endpoints.app()).toThrow(new CommandError('stack.json cannot be read (EACCES).'));
  });

  it('are those of the environment when it names any, and then none of the local stack', async () => {
    const environment = { ORDERS_APP_URL: 'https://app.example.net', ORDERS_APP_KEY: 'secret', ORDERS_SERVICE_BUS: '' };
    const endpoints = findEndpoints({ environment, findStack: () => stack });
    expect(endpoints.app()).toMatchObject({ url: 'https://app.example.net', key: 'secret' });
    expect(() => endpoints.serviceBus()).toThrow(/ORDERS_SERVICE_BUS is not set/);
    const both = findEndpoints({
      environment: { ...environment, ORDERS_SERVICE_BUS: 'ns.example.net' },
      findStack: () => stack,
    });
    const client = both.serviceBus();
    expect(client.fullyQualifiedNamespace).toBe('ns.example.net');
    await client.close();
  });

  it('say that a proxy may be in the way of the local stack, unless it is excepted', () => {
    const environment = { NODE_USE_ENV_PROXY: '1', http_proxy: 'http://proxy:3128' };
    const hintOf = (more: object): string =>
      findEndpoints({ environment: { ...environment, ...more }, findStack: () => stack }).app().hint;
    expect(hintOf({})).toContain('set NO_PROXY=127.0.0.1');
    expect(hintOf({ NO_PROXY: 'localhost, 127.0.0.1' })).not.toContain('NO_PROXY');
    expect(hintOf({ NODE_USE_ENV_PROXY: '' })).not.toContain('NO_PROXY');
  });

  it('refuse a connection string that is none', () => {
    const environment = { ORDERS_SERVICE_BUS: 'Endpoint=sb://x', ORDERS_APP_URL: 'http://127.0.0.1' };
    const endpoints = findEndpoints({ environment, findStack: () => undefined });
    expect(() => endpoints.serviceBus()).toThrow(CommandError);
    expect(() => endpoints.serviceBus()).toThrow(/^ORDERS_SERVICE_BUS is wrong: /);
  });

  it('refuse an address that is none', () => {
    const endpoints = findEndpoints({ environment: { ORDERS_APP_URL: 'my-app' }, findStack: () => undefined });
    expect(() => endpoints.app()).toThrow(/ORDERS_APP_URL is no address: my-app/);
  });
});
