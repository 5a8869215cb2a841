/**
 * A remote service over HTTP: `POST <address>/<operation>` with the headers Idempotency-Key and Fencing-Token.
 *
 * | answer                                               | outcome   |
 * | ---------------------------------------------------- | --------- |
 * | 2xx with a JSON object that has a text `reference`   | succeeded |
 * | 422 with a JSON object that has a text `code`        | refused   |
 * | another 4xx with such an object                      | failed    |
 * | 409                                                  | fenced    |
 * | 429                                                  | busy      |
 * | 408, 5xx, a redirect, any other body, no answer      | unknown   |
 *
 * With 429 and 503 the header `Retry-After` is passed on.
 *
 * Invariants
 * HR1 Only an answer in the form of this contract is definite. A page of a gateway, a proxy or a login server is not the word
 *     of the remote service, whatever its status.
 * HR2 A redirect is not followed: the call would become a GET, or reach somebody else.
 */
import { z } from 'zod';
import { maxRetryAfterMs } from '../contracts/agent-reply.js';
import type { RemoteOutcome, RemoteService } from './remote-service.js';

const successSchema = z.object({ reference: z.string() });

const problemSchema = z.object({ code: z.string(), message: z.string().optional() });

/** `application/json`, and its kin such as `application/problem+json`. */
const jsonType = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

const codeGrammar = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

/** Creates the client of the remote service at this address. */
export function createHttpRemoteService(address: string): RemoteService {
  return {
    call: async (call, signal) => {
      try {
        const response = await fetch(`${address}/${call.operation}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'idempotency-key': call.idempotencyKey,
            'fencing-token': String(call.fencingToken),
          },
          body: JSON.stringify(call.body),
          redirect: 'manual', // HR2
          signal,
        });
        return outcomeOf(response, await readJson(response));
      } catch {
        return { kind: 'unknown', cause: signal.aborted ? 'TimedOut' : 'NoAnswer' };
      }
    },
  };
}

/** The body if it is complete JSON and says so; anything else is no answer of the contract. */
async function readJson(response: Response): Promise<unknown> {
  const isJson = jsonType.test(response.headers.get('content-type') ?? '');
  const text = await response.text();
  if (!isJson) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function outcomeOf({ status, headers }: Response, body: unknown): RemoteOutcome {
  if (status === 409) return { kind: 'fenced' };
  if (status === 429) return { kind: 'busy', ...retryAfter(headers) };
  if (status >= 200 && status < 300) return successOf(body);
  const mayPass = status < 400 || status === 408 || status >= 500;
  return mayPass ? { kind: 'unknown', cause: `Http${status}`, ...retryAfter(headers) } : problemOf(status, body);
}

/** `Retry-After` in seconds, or as a date by the clock of the answer's own `Date` (RFC 9110, 10.2.3). */
function retryAfter(headers: Headers): { readonly retryAfterMs?: number } {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? {} : { retryAfterMs: Math.min(Math.max(0, ms), maxRetryAfterMs) };
}

function successOf(body: unknown): RemoteOutcome {
  const { success, data } = successSchema.safeParse(body);
  return success ? { kind: 'succeeded', reference: data.reference } : otherBody; // HR1
}

function problemOf(status: number, body: unknown): RemoteOutcome {
  const { success, data } = problemSchema.safeParse(body);
  if (!success) return otherBody; // HR1
  return {
    kind: status === 422 ? 'refused' : 'failed',
    code: codeGrammar.test(data.code) ? data.code : `Http${status}`,
    message: data.message ?? 'the remote service gave no reason',
  };
}

const otherBody: RemoteOutcome = { kind: 'unknown', cause: 'NotOfTheContract' };
