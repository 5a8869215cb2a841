/** Settles messages whose link is gone. */
import { encodeValue } from '../amqp/rhea.js';
import { failure, type Response } from '../amqp/requests.js';
import { wireErrors } from '../errors.js';
import { settle, type Disposition } from '../queue/settle.js';
import { textProperty, type EncodedProperty } from '../wire/application-properties.js';
import { uuidToToken } from '../wire/lock-token.js';
import type { OperationInput } from './operation-input.js';
import { ArgumentError, asBody, readUuids, type RequestBody } from './request-body.js';

/** The service's spellings. */
const kinds: Readonly<Record<string, Disposition['kind']>> = {
  completed: 'complete',
  abandoned: 'abandon',
  defered: 'defer',
  suspended: 'deadLetter',
};

/** All of the locks must hold, or nothing is settled. */
export function updateDisposition({ context, queue, body }: OperationInput): Response {
  const { namespace, clock, counters } = context;
  const now = clock.now();
  const kind = kinds[String(body['disposition-status'])];
  if (kind === undefined)
    throw new ArgumentError(`disposition-status must be one of ${Object.keys(kinds).join(', ')}.`);
  const tokens = readUuids(body, 'lock-tokens').map(uuidToToken);
  if (tokens.some((token) => queue.findLocked(token, now) === undefined)) return failure(410, wireErrors.lockLost());
  const changes = readChanges(body);
  for (const token of tokens) {
    const error = settle({ namespace, queue, token }, { kind, changes }, now);
    if (error !== undefined) return failure(400, error);
    counters.add(queue.name, 'settlements');
  }
  return { status: 200, description: 'OK' };
}

function readChanges(body: RequestBody): EncodedProperty[] {
  const changes = Object.entries(asBody(body['properties-to-modify'] ?? {}))
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ({ name, value: encodeValue(value) }));
  const [reason, description] = [body['deadletter-reason'], body['deadletter-description']];
  if (typeof reason === 'string') changes.push(textProperty('DeadLetterReason', reason));
  if (typeof description === 'string') changes.push(textProperty('DeadLetterErrorDescription', description));
  return changes;
}
