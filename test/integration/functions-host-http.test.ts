import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { startHostProcess, writeApp, type HostProcess } from '../support/functions-host-process.js';

let host: HostProcess;

beforeAll(async () => {
  const app = writeApp({
    'package.json': { type: 'module', main: 'app.js' },
    'host.json': { version: '2.0', extensions: { http: { routePrefix: 'v1/shop' } } },
    'app.js': `
      import { app } from '@azure/functions';
      const show = async (request, context) => ({
        jsonBody: {
          name: context.functionName, method: request.method, url: request.url, params: request.params,
          query: Object.fromEntries(request.query), header: request.headers.get('x-test'), body: await request.text(),
          trace: context.traceContext?.traceParent,
        },
      });
      app.http('order', { route: 'orders/{orderId:int}', methods: ['GET', 'PUT'], handler: show });
      app.http('order-by-name', { route: 'orders/{name}/{step?}', methods: ['GET'], handler: show });
      app.http('newest', { route: 'orders/newest', methods: ['GET'], handler: show });
      app.http('files', { route: 'files/{*path}', methods: ['GET'], handler: show });
      app.http('plain', { handler: show });
      app.http('with-key', { authLevel: 'function', handler: show });
      app.http('for-admins', { authLevel: 'admin', handler: show });
      app.http('answers', { methods: ['GET'], handler: () => ({
        status: 201, body: 'made', headers: { 'x-answer': 'yes', 'Set-Cookie': 'own=1' },
        cookies: [{ name: 'a', value: 'b c', httpOnly: true, maxAge: 5 }, { name: 'c', value: 'd', path: '/' }],
      }) });
      app.http('bytes', { methods: ['POST'], handler: async (request) => ({ body: Buffer.from(await request.arrayBuffer()) }) });
      app.http('nothing', { methods: ['GET'], handler: () => undefined });
      app.http('throws', { methods: ['GET'], handler: () => { throw new Error('broken handler'); } });
      let finish;
      app.timer('waits', { schedule: '0 0 0 1 1 *', handler: () => new Promise((resolve) => { finish = resolve; }) });
      app.http('finish', { methods: ['POST'], handler: () => { finish(); return {}; } });
      app.timer('yearly', { schedule: '0 0 0 1 1 *', handler: (timer, context) => context.log('ran by hand', JSON.stringify(timer)) });`,
  });
  host = await startHostProcess(app, { settings: { FunctionsHost__FunctionKey: 'fn-key' } });
});

describe('an HTTP trigger', () => {
  it.each([
    ['orders/17', 'order', { orderId: '17' }],
    ['orders/newest', 'newest', {}],
    ['orders/NEWEST', 'newest', {}],
    ['orders/mine', 'order-by-name', { name: 'mine' }],
    ['orders/mine/pay%20now', 'order-by-name', { name: 'mine', step: 'pay now' }],
    ['files/a/b/c.txt', 'files', { path: 'a/b/c.txt' }],
  ])('is found by its route: %s', async (path, name, params) => {
    expect((await host.request('GET', `v1/shop/${path}`)).body).toMatchObject({ name, params });
  });

  it.each([
    ['GET', 'v1/shop/orders/mine/pay/now'],
    ['DELETE', 'v1/shop/orders/17'],
    ['GET', 'api/plain'],
    ['GET', 'nowhere'],
  ])('is not found by another path or method: %s %s', async (method, path) => {
    expect((await host.request(method, path)).status).toBe(404);
  });

  it('sees the request', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { 'x-test': 'yes', traceparent, 'content-type': 'text/plain' };
    const { body } = await host.request('POST', 'v1/shop/plain?a=1&a=2&b=%C3%A4', 'töxt', headers);
    expect(body).toMatchObject({
      ...{ method: 'POST', header: 'yes', body: 'töxt', query: { a: '1,2', b: 'ä' }, trace: traceparent },
      url: `${host.url}/v1/shop/plain?a=1&a=2&b=%C3%A4`,
    });
  });

  it('answers with status, headers, cookies and body', async () => {
    const answer = await host.request('GET', 'v1/shop/answers');
    expect(answer).toMatchObject({ status: 201, text: 'made' });
    expect(answer.headers.get('x-answer')).toBe('yes');
    expect(answer.headers.getSetCookie()).toEqual(['own=1', 'a=b%20c; path=/; Max-Age=5; HttpOnly', 'c=d; path=/']);
  });

  it('keeps bytes as they are', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const response = await fetch(`${host.url}/v1/shop/bytes`, { method: 'POST', body: bytes });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });

  it('that returns nothing answers 204, that throws answers 500 and shows its stack on the console', async () => {
    expect((await host.request('GET', 'v1/shop/nothing')).status).toBe(204);
    expect(await host.request('GET', 'v1/shop/throws')).toMatchObject({ status: 500 });
    expect(await host.line(/broken handler/)).toMatch(/^fail: Error: broken handler\n\s+at .*app\.js/);
    expect(await host.line(/'Functions\.throws' \(Failed/)).toMatch(
      /^Executed 'Functions\.throws' \(Failed, Id=.*, Duration=\d+ms\)$/,
    );
  });

  it('with an auth level needs a key of that level', async () => {
    const status = async (path: string, headers = {}): Promise<number> =>
      (await host.request('GET', `v1/shop/${path}`, undefined, headers)).status;
    expect(await status('with-key')).toBe(401);
    expect(await status('with-key?code=wrong')).toBe(401);
    expect(await status('with-key?code=fn-key')).toBe(200);
    expect(await status('with-key', { 'x-functions-key': 'fn-key' })).toBe(200);
    expect(await status('for-admins?code=fn-key')).toBe(401);
    expect(await status(`for-admins?code=${host.keys.master}`)).toBe(200);
  });
});

describe('the admin endpoints', () => {
  it('show the host and its functions', async () => {
    expect((await host.request('GET', 'admin/host/status')).body).toMatchObject({ state: 'Running' });
    expect((await host.request('GET', 'admin/functions/order')).body).toMatchObject({
      name: 'order',
      isDisabled: false,
      invoke_url_template: `${host.url}/v1/shop/orders/{orderId:int}`,
    });
    expect((await host.request('GET', 'admin/functions/nobody')).status).toBe(404);
  });

  it('run a timer by hand', async () => {
    expect((await host.request('POST', 'admin/functions/yearly', { input: '' })).status).toBe(202);
    expect(await host.line(/^ran by hand/)).toContain('"isPastDue":false');
  });

  it('answer before the run that they start has ended', async () => {
    expect((await host.request('POST', 'admin/functions/waits', {})).status).toBe(202);
    await host.line(/^Executing 'Functions\.waits'/);
    expect(host.lines.some((line) => line.startsWith("Executed 'Functions.waits'"))).toBe(false);
    await host.request('POST', 'v1/shop/finish');
    await host.line(/^Executed 'Functions\.waits' \(Succeeded/);
  });

  it('run no HTTP function by hand', async () => {
    expect((await host.request('POST', 'admin/functions/order', {})).status).toBe(400);
  });
});

describe('the public durable API', () => {
  it('needs its key', async () => {
    const path = 'runtime/webhooks/durabletask/instances/x';
    expect((await host.request('GET', path)).status).toBe(401);
    expect((await host.request('GET', `${path}?code=${host.keys.master}`)).status).toBe(404);
  });
});

describe('a bad client', () => {
  it.each([
    ['garbage', '\u0000\u0001garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a path that is not encoded properly', 'GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('that sends %s is told so, and others are served', async (_what, bytes, answer) => {
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
    const received = new Promise<string>((resolve) =>
      socket.once('data', (data) => {
        resolve(data.toString());
      }),
    );
    socket.write(bytes);
    expect(await received).toMatch(answer);
    socket.destroy();
    expect((await host.request('GET', 'v1/shop/nothing')).status).toBe(204);
  });
});
