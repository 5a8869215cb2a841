import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { afterEach, describe, expect, it } from 'vitest';
import type { Endpoints } from '../../cli/endpoints.js';
import { CommandError } from '../../cli/errors.js';
import { aRecord } from '../support/builders.js';
import { callCli } from '../support/cli-run.js';

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const nowhere: Endpoints = {
  serviceBus() {
    throw new CommandError('no queues here');
  },
  app() {
    throw new CommandError('no app here');
  },
};

/** Endpoints of an app that answers as told. */
async function appThat(answers: RequestListener): Promise<Endpoints> {
  const server = createServer(answers);
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { ...nowhere, app: () => ({ url: `http://127.0.0.1:${port}`, key: 'k', hint: 'Look there.' }) };
}

function appAnswering(status: number, body: unknown): Promise<Endpoints> {
  return appThat((_request, response) => response.writeHead(status).end(JSON.stringify(body)));
}

describe('the command line', () => {
  it('lists its commands and where it looks', async () => {
    const { exitCode, output } = await callCli(['--help'], nowhere);
    expect(exitCode).toBe(0);
    for (const word of ['send', 'watch', 'show', 'resubmit', 'compensate', 'dead-letters', 'ORDERS_SERVICE_BUS']) {
      expect(output).toContain(word);
    }
  });

  it('shows the options of a command', async () => {
    const { exitCode, output } = await callCli(['send', '--help'], nowhere);
    expect(exitCode).toBe(0);
    expect(output).toContain('--payment-token');
  });

  it.each([
    [[], ''],
    [['sent'], 'Unknown command: sent'],
    [['toString'], 'Unknown command: toString'],
    [['send', '--orderid', 'x'], "Unknown option '--orderid'"],
    [['send', 'x'], 'Unexpected argument: x'],
    [['send', '--count', '0'], '--count is "0" and must be a whole number from 1 to'],
    [['send', '--count', '1.5'], '--count is "1.5"'],
    [['send', '--priority', 'urgent'], '--priority is "urgent" and must be normal or high'],
    [['send', '--file', 'order.json', '--sku', 'PEN'], '--sku and --file exclude each other'],
    [['send', '--order-id', ''], '--order-id is empty'],
    [['send', '--timeout', '5'], '--timeout goes with --wait'],
    [['send', '--wait', '--timeout', '0'], '--timeout is "0"'],
    [['show'], 'An argument is missing'],
    [['resubmit', 'a'], '--reason is missing'],
    [['skip-undo', 'a', '--reason', 'x'], '--step is missing'],
    [['intake', 'stop', '--reason', 'x'], 'intake takes pause or resume'],
  ])('refuses %j with the usage', async (args, message) => {
    const { exitCode, output, errors } = await callCli(args, nowhere);
    expect(exitCode).toBe(2);
    expect(errors).toContain(message);
    expect(errors + output).toContain('Usage: npm run cli -- ');
  });

  it('tells a foreseen failure in one line, without a stack trace', async () => {
    expect(await callCli(['show', 'a'], nowhere)).toEqual({ exitCode: 1, output: '', errors: 'no app here' });
  });

  it.each<[string, Buffer, RegExp]>([
    ['holds null', Buffer.from('null'), /^The order was not sent/],
    ['begins with a byte order mark', Buffer.from('\uFEFF{"orderId":"a"}'), /^The order was not sent .*customerId/],
    ['is UTF-16 with a mark', Buffer.from('\uFEFF{}', 'utf16le'), /is UTF-16.*Save it as UTF-8/],
    ['is UTF-16 without a mark', Buffer.from('{}', 'utf16le'), /is UTF-16/],
    ['is Latin-1', Buffer.from('{"name":"M\u00FCller"}', 'latin1'), /is not UTF-8/],
    ['is no JSON', Buffer.from('{'), /is not valid JSON/],
  ])('says what is wrong with an order file that %s', async (_kind, content, message) => {
    const directory = mkdtempSync(join(tmpdir(), 'cli-'));
    closing.push(() => {
      rmSync(directory, { recursive: true });
    });
    const path = join(directory, 'order.json');
    writeFileSync(path, content);
    const endpoints: Endpoints = {
      ...nowhere,
      serviceBus: () => new ServiceBusClient('Endpoint=sb://127.0.0.1;SharedAccessKeyName=n;SharedAccessKey=k'),
    };
    const { exitCode, errors } = await callCli(['send', '--file', path], endpoints);
    expect(exitCode).toBe(1);
    expect(errors).toMatch(message);
    expect(errors).not.toMatch(/^ +at /m);
  });

  it('names the file that it cannot read', async () => {
    const { exitCode, errors } = await callCli(['send', '--file', 'missing.json'], nowhere);
    expect(exitCode).toBe(1);
    expect(errors).toMatch(/^Cannot read an order from missing\.json: /);
  });
});

describe('show', () => {
  it('asks the app with the key and shows the record', async () => {
    const asked: unknown[] = [];
    const endpoints = await appThat((request, response) => {
      asked.push(request.url, request.headers['x-functions-key']);
      response.end(JSON.stringify(aRecord({ orderId: 'a' })));
    });
    const { exitCode, output } = await callCli(['show', 'a'], endpoints);
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^a {2}Pending\n/);
    expect(asked).toEqual(['/api/orders/a', 'k']);
  });

  it('gives the whole record as JSON, with fields it does not know', async () => {
    const { output } = await callCli(['show', 'a', '--json'], await appAnswering(200, { orderId: 'a', new: 1 }));
    expect(JSON.parse(output)).toEqual({ orderId: 'a', new: 1 });
  });

  it('lets no order id reach another path', async () => {
    const asked: unknown[] = [];
    const endpoints = await appThat((request, response) => {
      asked.push(request.url);
      response.writeHead(404).end();
    });
    await callCli(['show', '../demo?x=1'], endpoints);
    expect(asked).toEqual(['/api/orders/..%2Fdemo%3Fx%3D1']);
  });

  it.each([
    [404, {}, /There is no order a\. .*dead-letters orders/],
    [401, {}, /refuses the key\. Look there\./],
    [500, {}, /answered 500/],
    [200, { hello: 'world' }, /is no order record/],
  ])('says what to do when the app answers %i', async (status, body, message) => {
    const { exitCode, errors } = await callCli(['show', 'a'], await appAnswering(status, body));
    expect(exitCode).toBe(1);
    expect(errors).toMatch(message);
  });

  it('says what to do when the app does not answer', async () => {
    const endpoints = await appThat((request) => request.socket.destroy());
    expect((await callCli(['show', 'a'], endpoints)).errors).toMatch(/does not answer\. Look there\./);
  });
});

describe('the operator commands', () => {
  it.each([
    [['resubmit', 'a', '--reason', 'card renewed'], '/api/orders/a/resubmit', { reason: 'card renewed' }],
    [['compensate', 'a', '--reason', 'x'], '/api/orders/a/compensate', { reason: 'x' }],
    [['abandon', 'a', '--reason', 'x'], '/api/orders/a/abandon', { reason: 'x' }],
    [
      ['retry-undo', 'a', '--step', 'payment', '--reason', 'x'],
      '/api/orders/a/retry-undo',
      { reason: 'x', stepId: 'payment' },
    ],
    [
      ['skip-undo', 'a', '--step', 'payment', '--reason', 'x'],
      '/api/orders/a/skip-undo',
      { reason: 'x', stepId: 'payment' },
    ],
    [['intake', 'pause', '--reason', 'x'], '/api/intake/pause', { reason: 'x' }],
  ])('send %j', async (args, path, body) => {
    const asked: unknown[] = [];
    const endpoints = await appThat((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        asked.push(request.method, request.url, JSON.parse(text));
        response.end(JSON.stringify(aRecord({ orderId: 'a' })));
      });
    });
    expect(await callCli(args, endpoints)).toMatchObject({ exitCode: 0, errors: '' });
    expect(asked).toEqual(['POST', path, body]);
  });

  it('say why a verb does not apply', async () => {
    const endpoints = await appAnswering(409, { code: 'wrongState', message: 'the order is Processed' });
    const { exitCode, errors } = await callCli(['resubmit', 'a', '--reason', 'x'], endpoints);
    expect(exitCode).toBe(1);
    expect(errors).toBe('Cannot resubmit a: the order is Processed. Look at it: npm run cli -- show a');
  });
});
