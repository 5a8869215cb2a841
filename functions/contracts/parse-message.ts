import type { z } from 'zod';
import { decodeMessageBody } from './message-body.js';
import type { JsonObject } from './message-body.js';
import { describeIssues, rejected } from './rejection.js';
import type { Parsed, RejectionReason } from './rejection.js';

/**
 * Reads a message body by its contract.
 *
 * A body without a JSON object is an `InvalidMessage`, an unknown schema version an `UnsupportedSchemaVersion` (T81);
 * `reasonOf` names the reason of everything else.
 */
export function parseMessage<T>(
  schema: z.ZodType<T>,
  body: unknown,
  reasonOf: (isWrong: (field: string) => boolean) => RejectionReason,
): Parsed<T> {
  const message = decodeMessageBody(body);
  if (message === undefined) return rejected('InvalidMessage', 'expected a JSON object');
  const parsed = schema.safeParse(message);
  if (parsed.success) return { ok: true, value: parsed.data };
  const isWrong = (field: string): boolean => parsed.error.issues.some((issue) => issue.path[0] === field);
  const reason = hasOtherVersion(message) && isWrong('schemaVersion') ? 'UnsupportedSchemaVersion' : reasonOf(isWrong);
  return rejected(reason, describeIssues(parsed.error));
}

function hasOtherVersion(message: JsonObject): boolean {
  return Number.isSafeInteger(message['schemaVersion']);
}
