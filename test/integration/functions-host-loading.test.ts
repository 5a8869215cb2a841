import { describe, expect, it } from 'vitest';
import { startHostProcess, temporaryDirectory, writeApp } from '../support/functions-host-process.js';

const esModule = (main = 'app.js'): object => ({ type: 'module', main });
const hello = "import { app } from '@azure/functions';\napp.http('hello', { handler: () => ({ body: 'hello' }) });\n";

describe('an app', () => {
  it('of CommonJS files behind a glob is loaded in sorted order, with its hooks', async () => {
    const app = writeApp({
      'package.json': { main: 'src/*.js' },
      'src/a-hooks.js': `
        const { app } = require('@azure/functions');
        globalThis.order = ['a'];
        app.hook.appStart((context) => { globalThis.order.push('appStart'); context.hookData.seen = true; });
        app.hook.preInvocation((context) => {
          context.inputs[0].params.added = 'by the hook';
          const handler = context.functionHandler;
          context.functionHandler = async (...args) => ({ jsonBody: { handled: await handler(...args), order: globalThis.order } });
        });
        app.hook.postInvocation((context) => { context.result.headers = { 'x-hook': 'post' }; });
        app.hook.log((context) => { context.message = 'hooked: ' + context.message; });`,
      'src/b-functions.js': `
        const { app } = require('@azure/functions');
        globalThis.order.push('b');
        app.http('hello', { handler: (request, context) => { context.log('hi'); return request.params.added; } });`,
    });
    const host = await startHostProcess(app);
    const answer = await host.request('GET', 'api/hello');
    expect(answer.body).toEqual({ handled: 'by the hook', order: ['a', 'b', 'appStart'] });
    expect(answer.headers.get('x-hook')).toBe('post');
    expect(await host.line(/hooked/)).toBe('hooked: hi');
  });

  it('mixes ES modules and CommonJS by their extensions', async () => {
    const app = writeApp({
      'package.json': { main: '{one.mjs,two.cjs}' },
      'one.mjs': hello,
      'two.cjs': "const { app } = require('@azure/functions'); app.get('two', () => ({ body: 'two' }));",
    });
    const host = await startHostProcess(app);
    expect((await host.request('GET', 'api/hello')).text).toBe('hello');
    expect((await host.request('GET', 'api/two')).text).toBe('two');
  });

  it('finds its settings in the environment before it loads, and resolves %settings% of its bindings', async () => {
    const app = writeApp({
      'package.json': esModule(),
      'app.js': `
        import { app } from '@azure/functions';
        const atLoad = process.env.GREETING;
        app.timer('tick', { schedule: '%TICK%', handler: () => undefined });
        app.get('settings', () => ({ jsonBody: { atLoad, host: process.env.WEBSITE_HOSTNAME, local: process.env.FROM_FILE } }));`,
      'local.settings.json': { IsEncrypted: false, Values: { FROM_FILE: 'yes', GREETING: 'loses' } },
    });
    const settings = { GREETING: 'hi', TICK: '0 0 0 1 1 *' };
    const host = await startHostProcess(app, { settings, useLocalSettings: true });
    const { body } = await host.request('GET', 'api/settings');
    expect(body).toEqual({ atLoad: 'hi', host: host.url.replace('http://', ''), local: 'yes' });
  });

  it('can have a function turned off by a setting', async () => {
    const host = await startHostProcess(writeApp({ 'package.json': esModule(), 'app.js': hello }), {
      settings: { 'AzureWebJobs.hello.Disabled': 'true' },
    });
    expect((await host.request('GET', 'api/hello')).status).toBe(404);
    const { body } = await host.request('GET', 'admin/functions');
    expect(body).toMatchObject([{ name: 'hello', isDisabled: true }]);
  });

  it('is told of options in host.json that nobody knows', async () => {
    const app = writeApp({
      'package.json': esModule(),
      'app.js': hello,
      'host.json': { version: '2.0', extensions: { serviceBus: { maxConcurentCalls: 1 } } },
    });
    const host = await startHostProcess(app);
    expect(await host.line(/unknown option/)).toContain('"extensions.serviceBus.maxConcurentCalls"');
  });
});

describe('an app that cannot run', () => {
  const refusals: readonly (readonly [string, Readonly<Record<string, string | object>>, RegExp])[] = [
    [
      'throws at load',
      { 'package.json': esModule(), 'app.js': "throw new Error('no database');" },
      /app\.js threw Error: no database/,
    ],
    ['is not built', { 'package.json': esModule('dist/*.js') }, /main" is "dist\/\*\.js", but .* Is the app built\?/],
    ['registers nothing', { 'package.json': esModule(), 'app.js': 'export {};' }, /registers no functions/],
    ['has no package.json', {}, /no package\.json/],
    [
      'uses a name twice',
      { 'package.json': esModule(), 'app.js': `${hello}app.get('Hello', () => ({}));` },
      /named "hello" is already registered/,
    ],
    [
      'uses what the host does not have',
      {
        'package.json': esModule(),
        'app.js': `
          import { app, output } from '@azure/functions';
          import * as df from 'durable-functions';
          app.storageBlob('blobs', { path: 'in/{name}', connection: 'Store', handler: () => undefined });
          df.app.entity('counter', () => undefined);
          app.serviceBusQueue('batches', { connection: 'Bus', queueName: 'q', cardinality: 'many', handler: () => undefined });
          app.timer('sends', { schedule: '0 * * * * *', return: output.serviceBusQueue({ queueName: 'q', connection: 'Bus' }), handler: () => 1 });`,
      },
      /"blobs": trigger "blobTrigger" is not supported[^]*"counter": durable entities[^]*"batches": batches[^]*"sends": Service Bus outputs/,
    ],
    [
      'has a retry policy',
      {
        'package.json': esModule(),
        'app.js': `
          import { app } from '@azure/functions';
          const retry = { strategy: 'fixedDelay', maxRetryCount: 2, delayInterval: 1000 };
          app.timer('tick', { schedule: '0 * * * * *', retry, handler: () => undefined });`,
      },
      /"tick": retry policies are not supported/,
    ],
    [
      'streams HTTP',
      { 'package.json': esModule(), 'app.js': `${hello}app.setup({ enableHttpStream: true });` },
      /HTTP streaming .* is not supported/,
    ],
    [
      'lacks a setting for a binding',
      {
        'package.json': esModule(),
        'app.js':
          "import { app } from '@azure/functions';\napp.timer('tick', { schedule: '%TICK%', handler: () => undefined });",
      },
      /Timer "tick" needs the app setting "TICK"/,
    ],
    [
      'lacks a connection',
      {
        'package.json': esModule(),
        'app.js':
          "import { app } from '@azure/functions';\napp.serviceBusQueue('orders', { connection: 'Bus', queueName: 'q', handler: () => undefined });",
      },
      /Service Bus trigger "orders" needs the app setting "Bus"/,
    ],
    [
      'has a schedule that is none',
      {
        'package.json': esModule(),
        'app.js':
          "import { app } from '@azure/functions';\napp.timer('tick', { schedule: 'every day', handler: () => undefined });",
      },
      /"every day" is no NCRONTAB schedule/,
    ],
    [
      'has a wrong option in host.json',
      {
        'package.json': esModule(),
        'app.js': hello,
        'host.json': { extensions: { serviceBus: { maxConcurrentCalls: 'two' } } },
      },
      /"extensions\.serviceBus\.maxConcurrentCalls" must be a count/,
    ],
  ];

  it.each(refusals)('because it %s is refused with what to do', async (_what, files, message) => {
    await expect(startHostProcess(writeApp(files))).rejects.toThrow(message);
  });

  it('because its port is taken is refused', async () => {
    const first = await startHostProcess('durable-app');
    const port = Number(new URL(first.url).port);
    await expect(startHostProcess('durable-app', { port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
  });

  it('because another host has its data is refused', async () => {
    const dataDirectory = temporaryDirectory();
    await startHostProcess('durable-app', { dataDirectory });
    await expect(startHostProcess('durable-app', { dataDirectory })).rejects.toThrow(/in use|locked|another/i);
  });
});

describe('a function', () => {
  it('cannot be registered once the app runs', async () => {
    const app = writeApp({
      'package.json': esModule(),
      'app.js': `
        import { app } from '@azure/functions';
        app.get('register', () => {
          try { app.get('late', () => ({})); } catch (error) { return { body: error.message }; }
        });`,
    });
    const host = await startHostProcess(app);
    expect((await host.request('GET', 'api/register')).text).toContain('"late" can\'t be registered');
  });

  it('that never returns fails after functionTimeout, and its worker is replaced', async () => {
    const app = writeApp({
      'package.json': esModule(),
      'app.js': `${hello}app.get('hang', () => new Promise(() => undefined));`,
      'host.json': { functionTimeout: '00:00:01' },
    });
    const host = await startHostProcess(app);
    expect((await host.request('GET', 'api/hang')).status).toBe(500);
    expect(await host.line(/^fail: FunctionTimeoutError/)).toContain('exceeded by function: Functions.hang');
    await host.line(/Worker process started/);
    expect((await host.request('GET', 'api/hello')).text).toBe('hello');
    expect(await host.counters()).toMatchObject({ 'worker.exits': 1 });
    await host.close();
  });
});
