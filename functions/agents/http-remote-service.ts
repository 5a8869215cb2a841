import { z } from 'zod';
import type { RemoteOutcome, RemoteService } from './remote-service.js';

const answerSchema = z.object({
  reference: z.string().optional(),
  code: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,63}$/)
    .optional(),
  message: z.string().optional(),
});

type Answer = z.infer<typeof answerSchema>;

/**
 * A remote service over HTTP: `POST <address>/<operation>` with the headers Idempotency-Key and Fencing-Token.
 *
 * 2xx succeeded · 422 refused · 409 fenced · other 4xx failed · 408, 429, 5xx and no answer: unknown.
 */
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
          signal,
        });
        return outcomeOf(response.status, await readAnswer(response));
      } catch {
        return { kind: 'unknown' };
      }
    },
  };
}

async function readAnswer(response: Response): Promise<Answer> {
  // The status alone is definite; the body only adds words.
  const body: unknown = await response.json().catch(() => undefined);
  const parsed = answerSchema.safeParse(body);
  return parsed.success ? parsed.data : {};
}

function outcomeOf(status: number, { reference, code, message }: Answer): RemoteOutcome {
  if (status >= 200 && status < 300) return { kind: 'succeeded', reference: reference ?? '' };
  if (status === 409) return { kind: 'fenced' };
  if (mayPass(status)) return { kind: 'unknown' };
  const kind = status === 422 ? 'refused' : 'failed';
  return { kind, code: code ?? `Http${status}`, message: message ?? 'the remote service gave no reason' };
}

function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
