import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpRemoteService } from '../../functions/agents/http-remote-service.js';
import type { RemoteOutcome } from '../../functions/agents/remote-service.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const call = { operation: 'charges', body: { orderId: 'A-1' }, idempotencyKey: 'A-1.payment', fencingToken: 2 };

let server: Server;
let answer: Answer;

beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/remote`;
const callIt = (signal = AbortSignal.timeout(5_000)): Promise<RemoteOutcome> =>
  createHttpRemoteService(address()).call(call, signal);

const json = 'application/json; charset=utf-8';

const answering =
  (status: number, text: string, contentType = json): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': contentType }).end(text);
  };

const loginPage = '<!doctype html><title>Sign in</title>';
const notOfTheContract: RemoteOutcome = { kind: 'unknown', cause: 'NotOfTheContract' };

describe('a remote service over HTTP', () => {
  it('is called with the operation, the key and the fencing token (R23, R101)', async () => {
    let seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'> | undefined;
    answer = (request, response) => {
      seen = request;
      answering(200, '{"reference":"charge-1"}')(request, response);
    };
    expect(await callIt()).toEqual({ kind: 'succeeded', reference: 'charge-1' });
    expect(seen).toMatchObject({ method: 'POST', url: '/remote/charges' });
    expect(seen?.headers).toMatchObject({ 'idempotency-key': 'A-1.payment', 'fencing-token': '2' });
  });

  it.each([
    [200, '{"reference":"r"}', { kind: 'succeeded', reference: 'r' }],
    [201, '{"reference":"","more":1}', { kind: 'succeeded', reference: '' }],
    [422, '{"code":"Declined","message":"no"}', { kind: 'refused', code: 'Declined', message: 'no' }],
    [400, '{"code":"Closed","message":"no"}', { kind: 'failed', code: 'Closed', message: 'no' }],
    [404, '{"code":"x"}', { kind: 'failed', code: 'x', message: 'the remote service gave no reason' }],
    [409, '{"code":"StaleToken"}', { kind: 'fenced' }],
    [409, '', { kind: 'fenced' }],
    [408, '{}', { kind: 'unknown', cause: 'Http408' }],
    [429, '{}', { kind: 'busy' }],
    [500, '{"code":"x"}', { kind: 'unknown', cause: 'Http500' }],
    [503, '{}', { kind: 'unknown', cause: 'Http503' }],
  ])('that answers %d with %j is understood (T23)', async (status, text, outcome) => {
    answer = answering(status, text);
    expect(await callIt()).toEqual(outcome);
  });

  it.each([200, 201, 202, 400, 403, 404, 422])(
    'that answers %d with anything but the body of the contract has said nothing definite',
    async (status) => {
      const bodies = ['', '{}', '[1]', 'null', '"text"', '{"reference":7,"code":7}', '{"reference":"cut o', loginPage];
      for (const text of bodies) {
        answer = answering(status, text);
        expect(await callIt(), text).toEqual(notOfTheContract);
      }
    },
  );

  it.each(['text/html', 'text/plain', 'application/jsonish', ''])(
    'that calls its answer %j has said nothing definite',
    async (contentType) => {
      for (const status of [200, 422]) {
        answer = answering(status, '{"reference":"r","code":"Declined"}', contentType);
        expect(await callIt()).toEqual(notOfTheContract);
      }
    },
  );

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['999999', 86_400_000],
    ['Mon, 05 Jan 2026 09:00:30 GMT', 30_000],
    ['Mon, 05 Jan 2026 08:59:00 GMT', 0],
    ['soon', undefined],
  ])('that asks for a wait of %j is understood (R22)', async (text, retryAfterMs) => {
    for (const status of [429, 503]) {
      answer = (_request, response) => {
        response.writeHead(status, { 'retry-after': text, date: 'Mon, 05 Jan 2026 09:00:00 GMT' }).end();
      };
      const outcome = await callIt();
      expect(outcome.kind).toBe(status === 429 ? 'busy' : 'unknown');
      expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toBe(retryAfterMs);
    }
  });

  it('that answers 204 has said nothing definite', async () => {
    answer = (_request, response) => response.writeHead(204).end();
    expect(await callIt()).toEqual(notOfTheContract);
  });

  it.each([301, 302, 303, 307, 308])(
    'that answers %d is not followed: the page behind a redirect is not its word (T23)',
    async (status) => {
      const seen: string[] = [];
      answer = (request, response) => {
        seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
        if (request.url === '/remote/charges') response.writeHead(status, { location: '/login' }).end();
        else answering(200, '{"reference":"r"}')(request, response);
      };
      expect(await callIt()).toEqual({ kind: 'unknown', cause: `Http${status}` });
      expect(seen).toEqual(['POST /remote/charges']);
    },
  );

  it('whose answer is cut off leaves the outcome unknown', async () => {
    answer = (request, response) => {
      response.writeHead(200, { 'content-type': json, 'content-length': '100' });
      response.write('{"reference":"r"}', () => request.socket.destroy());
    };
    expect(await callIt()).toEqual({ kind: 'unknown', cause: 'NoAnswer' });
  });

  it('that breaks the connection leaves the outcome unknown', async () => {
    answer = (request) => request.socket.destroy();
    expect(await callIt()).toEqual({ kind: 'unknown', cause: 'NoAnswer' });
  });

  it('that does not answer in time leaves the outcome unknown', async () => {
    const asked = new AbortController();
    answer = () => {
      asked.abort();
    };
    expect(await callIt(asked.signal)).toEqual({ kind: 'unknown', cause: 'TimedOut' });
  });

  it('that is not there leaves the outcome unknown', async () => {
    const nowhere = createHttpRemoteService('http://127.0.0.1:1');
    expect(await nowhere.call(call, AbortSignal.timeout(5_000))).toEqual({
      kind: 'unknown',
      cause: 'NoAnswer',
    });
  });

  it('that gives a code that may not travel is understood by its status', async () => {
    answer = answering(422, JSON.stringify({ code: 'no code at all', message: 'no' }));
    expect(await callIt()).toEqual({ kind: 'refused', code: 'Http422', message: 'no' });
  });
});
