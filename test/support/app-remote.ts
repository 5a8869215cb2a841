/**
 * The remote services of the agents, in the test's own process: what they did survives every part of the stack, so it is
 * the judge of what happened. They recognise idempotency keys and fencing tokens as a good remote service does, and
 * misbehave by script.
 *
 * Invariants
 * RS1 A key that was seen has no second effect.
 * RS2 A call with a lower token than one seen for the order is refused (409) without an effect.
 * RS3 An undo leaves a tombstone: what it undid cannot be done afterwards.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSwitchboard } from './app-switchboard.js';
import type { Script, Switchboard } from './app-switchboard.js';

/** One call as it arrived. */
export interface RemoteCallSeen {
  readonly service: string;
  readonly operation: string;
  readonly orderId: string;
  readonly key: string;
  readonly token: number;
}

/** What the remote services know and do. */
export interface Remote {
  readonly url: string;
  /** All calls for an order, in the order of their arrival. */
  calls(orderId: string): readonly RemoteCallSeen[];
  /** Every idempotency key that had an effect for the order, with how often; undone ones have none left. */
  effects(orderId: string): Readonly<Record<string, number>>;
  /** Operations that had an effect for the order, in that order; undo operations included. */
  done(orderId: string): readonly string[];
  /** Makes calls misbehave. */
  script(script: Script): void;
  /** Lets go what a script holds. */
  release(orderId: string): void;
  close(): Promise<void>;
}

const undoOperations: readonly string[] = ['refunds', 'releases', 'cancellations', 'credit-notes'];

/** Starts the remote services on a free port. */
export async function startRemote(): Promise<Remote> {
  const calls: RemoteCallSeen[] = [];
  const book = createBook();
  const switchboard = createSwitchboard();
  const server = createServer((request, response) => {
    void answer(request, response, { calls, book, switchboard });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls: (orderId) => calls.filter((call) => call.orderId === orderId),
    effects: (orderId) => book.effects(orderId),
    done: (orderId) => book.done(orderId),
    script: (script) => {
      switchboard.add(script);
    },
    release: (orderId) => {
      switchboard.release(orderId);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Parts {
  readonly calls: RemoteCallSeen[];
  readonly book: Book;
  readonly switchboard: Switchboard;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const call = await readCall(request);
  parts.calls.push(call);
  const disturbance = await parts.switchboard.disturbance(call);
  if (disturbance === 'silence') return; // The caller's deadline ends it.
  if (typeof disturbance === 'object') {
    const { status, code } = disturbance;
    if (code === undefined) replyWithPage(response, status);
    else reply(response, status, { code, message: 'scripted' });
    return;
  }
  const status = parts.book.record(call);
  if (disturbance === 'silenceAfterEffect') return;
  if (disturbance === 'unavailableAfterEffect') {
    reply(response, 503, { code: 'Unavailable' });
    return;
  }
  reply(response, status, status === 200 ? { reference: `${call.service}-${call.key}` } : refusals[status]);
}

const refusals: Readonly<Record<number, object>> = { 409: { code: 'StaleToken' }, 422: { code: 'Undone' } };

async function readCall(request: IncomingMessage): Promise<RemoteCallSeen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly orderId: string };
  const [, service = '', operation = ''] = (request.url ?? '').split('/');
  const { headers } = request;
  return {
    service,
    operation,
    orderId: body.orderId,
    key: String(headers['idempotency-key']),
    token: Number(headers['fencing-token']),
  };
}

function reply(response: ServerResponse, status: number, body: object | undefined): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function replyWithPage(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html', location: '/sign-in' });
  response.end('<!doctype html><title>Sign in</title>');
}

interface Book {
  /** Records the call's effect if it may have one; answers the HTTP status. */
  record(call: RemoteCallSeen): number;
  effects(orderId: string): Readonly<Record<string, number>>;
  done(orderId: string): readonly string[];
}

function createBook(): Book {
  const lines: RemoteCallSeen[] = [];
  const highest = new Map<string, number>();
  const of = (orderId: string): readonly RemoteCallSeen[] => lines.filter((line) => line.orderId === orderId);
  const undoneServices = (orderId: string): readonly string[] =>
    of(orderId).flatMap(({ service, operation }) => (undoOperations.includes(operation) ? [service] : []));
  return {
    record(call) {
      const { orderId, service, key, token, operation } = call;
      const place = `${orderId}/${service}`;
      if (token < (highest.get(place) ?? 0)) return 409; // RS2
      highest.set(place, token);
      if (of(orderId).some((line) => line.key === key)) return 200; // RS1
      const isUndo = undoOperations.includes(operation);
      if (!isUndo && undoneServices(orderId).includes(service)) return 422; // RS3
      lines.push(call);
      return 200;
    },
    effects(orderId) {
      const undone = undoneServices(orderId);
      const left = of(orderId).filter(({ service }) => !undone.includes(service));
      const counts = new Map<string, number>();
      for (const { key } of left) counts.set(key, (counts.get(key) ?? 0) + 1);
      return Object.fromEntries(counts);
    },
    done: (orderId) => of(orderId).map(({ service, operation }) => `${service}/${operation}`),
  };
}
