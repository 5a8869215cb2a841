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

const answering =
  (status: number, text: string): Answer =>
  (_request, response) => {
    response.writeHead(status).end(text);
  };

describe('a remote service over HTTP', () => {
  it('is called with the operation, the key and the fencing token (R23, R101)', async () => {
    let seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'> | undefined;
    answer = (request, response) => {
      seen = request;
      response.end('{"reference":"charge-1"}');
    };
    expect(await callIt()).toEqual({ kind: 'succeeded', reference: 'charge-1' });
    expect(seen).toMatchObject({ method: 'POST', url: '/remote/charges' });
    expect(seen?.headers).toMatchObject({ 'idempotency-key': 'A-1.payment', 'fencing-token': '2' });
  });

  it.each([
    [200, '{"reference":"r"}', { kind: 'succeeded', reference: 'r' }],
    [201, '{}', { kind: 'succeeded', reference: '' }],
    [422, '{"code":"Declined","message":"no"}', { kind: 'refused', code: 'Declined', message: 'no' }],
    [400, '{"code":"Closed","message":"no"}', { kind: 'failed', code: 'Closed', message: 'no' }],
    [404, '{}', { kind: 'failed', code: 'Http404', message: 'the remote service gave no reason' }],
    [409, '{"code":"StaleToken"}', { kind: 'fenced' }],
    [408, '{}', { kind: 'unknown' }],
    [429, '{}', { kind: 'unknown' }],
    [500, '{}', { kind: 'unknown' }],
    [503, '{}', { kind: 'unknown' }],
  ])('that answers %d is understood (T23)', async (status, text, outcome) => {
    answer = answering(status, text);
    expect(await callIt()).toEqual(outcome);
  });

  it.each([
    [200, '', 'succeeded'],
    [204, '', 'succeeded'],
    [422, '<html>no</html>', 'refused'],
    [400, '{bad', 'failed'],
    [200, '[1]', 'succeeded'],
  ])('that answers %d with %j is definite by its status alone', async (status, text, kind) => {
    answer = answering(status, text);
    expect((await callIt()).kind).toBe(kind);
  });

  it('that breaks the connection leaves the outcome unknown', async () => {
    answer = (request) => request.socket.destroy();
    expect(await callIt()).toEqual({ kind: 'unknown' });
  });

  it('that does not answer in time leaves the outcome unknown', async () => {
    const asked = new AbortController();
    answer = () => {
      asked.abort();
    };
    expect(await callIt(asked.signal)).toEqual({ kind: 'unknown' });
  });

  it('that is not there leaves the outcome unknown', async () => {
    const nowhere = createHttpRemoteService('http://127.0.0.1:1');
    expect(await nowhere.call(call, AbortSignal.timeout(5_000))).toEqual({ kind: 'unknown' });
  });

  it('that answers with words beyond all bounds is understood without them', async () => {
    answer = answering(422, JSON.stringify({ code: 'no code at all', message: 'x' }));
    expect(await callIt()).toEqual({ kind: 'refused', code: 'Http422', message: 'the remote service gave no reason' });
  });
});
