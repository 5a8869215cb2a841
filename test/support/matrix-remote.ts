/**
 * The remote services of the fault matrix: a server outside the Functions host, so that it survives the host's death. It
 * does as its script says, else it hands the call on to the demo services, and it writes down every call.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a scripted service does with a call instead of its work. */
export type RemoteBehaviour = 'work' | 'refuse' | 'fail' | 'hang' | 'unavailable';

/** Says what the nth call (from 1) of an operation for an order meets. */
export type RemoteScript = (operation: string, nth: number) => RemoteBehaviour;

/** One call, as the remote service saw it. */
export interface RemoteCallSeen {
  readonly orderId: string;
  readonly operation: string;
  readonly key: string;
  readonly token: number;
  /** Status of the answer; 0 while there is none. */
  status: number;
}

/** The running services. */
export interface MatrixRemote {
  readonly url: string;
  /** Where calls are handed on to. */
  handOnTo(hostUrl: string): void;
  script(orderId: string, script: RemoteScript): void;
  calls(orderId: string): readonly RemoteCallSeen[];
  close(): Promise<void>;
}

/** Starts the services on a free port of 127.0.0.1. */
export async function startMatrixRemote(): Promise<MatrixRemote> {
  const scripts = new Map<string, RemoteScript>();
  const seen: RemoteCallSeen[] = [];
  let target = '';
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request);
    const operation = (request.url ?? '').replace(/^\//, '');
    const { orderId } = JSON.parse(body) as { orderId: string };
    const key = String(request.headers['idempotency-key']);
    const call = { orderId, operation, key, token: Number(request.headers['fencing-token']), status: 0 };
    seen.push(call);
    const nth = seen.filter((other) => other.orderId === orderId && other.operation === operation).length;
    const behaviour = scripts.get(orderId)?.(operation, nth) ?? 'work';
    if (behaviour === 'hang') return; // The caller gives up.
    const answer =
      behaviour === 'work' ? await handOn(`${target}/api/demo/${operation}`, request, body) : canned[behaviour];
    call.status = answer.status;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
  };
  const url = await listen(server);
  return {
    url,
    handOnTo: (hostUrl) => {
      target = hostUrl;
    },
    script: (orderId, script) => scripts.set(orderId, script),
    calls: (orderId) => seen.filter((call) => call.orderId === orderId),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const canned = {
  refuse: { status: 422, text: '{"code":"Declined","message":"declined by the remote service"}' },
  fail: { status: 400, text: '{"code":"Closed","message":"the remote service cannot do this"}' },
  unavailable: { status: 503, text: '{"code":"Unavailable","message":"try again"}' },
} as const;

async function handOn(url: string, request: IncomingMessage, body: string): Promise<{ status: number; text: string }> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': String(request.headers['idempotency-key']),
    'fencing-token': String(request.headers['fencing-token']),
  };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
