/**
 * Turns HTTP requests into decisions of the service and back.
 *
 * Invariants
 * T1 No answer leaves before everything changed so far is durable.
 * T2 A body beyond MAX_BODY_BYTES is never held in memory.
 * T3 Whatever a client sends, it gets an answer or a closed connection; nothing escapes the handler.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorAnswer } from './error-answer.js';
import type { Answer, Request } from './exchange.js';
import { parseResourcePath } from './resource-path.js';
import type { Reply, Service } from './service.js';
import type { Store } from './store/store.js';
import { tooLarge } from './wire-errors.js';

/** Above the 2 MB of a document, because a body may be written with escapes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface HandlerParts {
  readonly service: Service;
  readonly store: Store;
  readonly now: () => number;
  readonly onInternalError: (error: unknown) => void;
}

/** Header values are visible ASCII; others are percent-encoded. */
function headerSafe(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}

function writeAnswer(response: ServerResponse, answer: Answer): void {
  const headers = ['x-ms-request-charge', String(answer.charge), 'x-ms-activity-id', randomUUID()];
  for (const value of answer.headers ?? []) headers.push(headerSafe(value));
  if (answer.body !== undefined) {
    headers.push('content-type', 'application/json', 'content-length', String(Buffer.byteLength(answer.body)));
  }
  response.writeHead(answer.status, headers);
  response.end(answer.body);
}

function finish(response: ServerResponse, reply: Reply): void {
  if (reply.kind === 'cut') response.destroy();
  else if (!response.destroyed) writeAnswer(response, reply.answer);
}

/** Calls back with the body, or without one when it is too large (T2). */
function readBody(incoming: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) chunks.length = 0;
    else chunks.push(chunk);
  });
  incoming.on('end', () => {
    const [first = Buffer.alloc(0)] = chunks;
    done(size > MAX_BODY_BYTES ? undefined : chunks.length <= 1 ? first : Buffer.concat(chunks));
  });
  incoming.on('error', () => undefined);
}

/** Creates the listener of the HTTP server. */
export function createHandler(parts: HandlerParts): (incoming: IncomingMessage, response: ServerResponse) => void {
  const { service, store, now, onInternalError } = parts;
  const fail = (response: ServerResponse, error: unknown): void => {
    finish(response, { kind: 'answer', answer: errorAnswer(error, onInternalError) });
  };
  const settle = async (response: ServerResponse, reply: Promise<Reply>): Promise<void> => {
    try {
      const settled = await reply;
      await store.settled();
      finish(response, settled);
    } catch (error) {
      fail(response, error);
    }
  };
  const decide = (incoming: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const request: Request = {
      method: incoming.method ?? '',
      path: parseResourcePath(incoming.url ?? ''),
      headers: incoming.headers,
      body,
      store,
      now: now(),
      behindMs: 0,
    };
    const reply = service.decide(request);
    if (reply instanceof Promise) void settle(response, reply);
    else if (store.settled() === undefined) finish(response, reply);
    else void settle(response, Promise.resolve(reply));
  };
  return (incoming, response) => {
    readBody(incoming, (body) => {
      try {
        if (body === undefined) throw tooLarge();
        decide(incoming, response, body);
      } catch (error) {
        fail(response, error);
      }
    });
  };
}
