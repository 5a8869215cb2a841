/** The operations of a queue's $management node. Each changes the queue and returns what the client is told. */
import { types } from '../amqp/rhea.js';
import { failure, type Response } from '../amqp/requests.js';
import type { Right } from '../auth/rules.js';
import { wireErrors } from '../errors.js';
import { limits } from '../limits.js';
import type { Message } from '../queue/message.js';
import { encodeDelivery } from '../wire/delivery.js';
import { readMessage } from '../wire/incoming.js';
import { readHead } from '../wire/sections.js';
import { checkMessages } from '../wire/message-limits.js';
import { tokenToUuid, uuidToToken } from '../wire/lock-token.js';
import type { OperationInput } from './operation-input.js';
import { ArgumentError, readMaps, readNumber, readNumbers, readUuids, type RequestBody } from './request-body.js';
import { updateDisposition } from './update-disposition.js';

interface Operation {
  readonly right: Right;
  readonly run: (input: OperationInput) => Response;
}

const typeCodes = { long: 0x81, timestamp: 0x83 } as const;
const maxPeek = 250;

/** The operations by name, without their prefix `com.microsoft:`. */
export const operations: Readonly<Record<string, Operation>> = {
  'renew-lock': { right: 'Listen', run: renewLock },
  'peek-message': { right: 'Listen', run: peekMessage },
  'receive-by-sequence-number': { right: 'Listen', run: receiveBySequenceNumber },
  'update-disposition': { right: 'Listen', run: updateDisposition },
  'schedule-message': { right: 'Send', run: scheduleMessage },
  'cancel-scheduled-message': { right: 'Send', run: cancelScheduledMessage },
};

function success(body?: RequestBody): Response {
  return { status: 200, description: 'OK', body };
}

function renewLock({ context, queue, body }: OperationInput): Response {
  const now = context.clock.now();
  const messages = readUuids(body, 'lock-tokens').map((uuid) => queue.findLocked(uuidToToken(uuid), now));
  if (!messages.every((message) => message !== undefined)) return failure(410, wireErrors.lockLost());
  const expirations = messages.map((message) => queue.renew(message, now));
  return success({ expirations: types.wrap_array(expirations, typeCodes.timestamp) });
}

function peekMessage({ queue, body }: OperationInput): Response {
  const count = Math.min(readNumber(body, 'message-count'), maxPeek);
  const encode = body['omit-message-body'] === true ? encodeWithoutBody : encodeDelivery;
  const messages: { message: Buffer }[] = [];
  let bytes = 0;
  for (const found of queue.peek(readNumber(body, 'from-sequence-number'), count)) {
    const message = encode(found);
    bytes += message.length;
    // One answer holds no more than one message may; a client peeks on from where it got to.
    if (messages.length > 0 && bytes > limits.maxMessageBytes) break;
    messages.push({ message });
  }
  if (messages.length === 0) return { status: 204, description: 'No Content' };
  return success({ messages });
}

function encodeWithoutBody(message: Message): Buffer {
  return readHead(encodeDelivery(message));
}

function receiveBySequenceNumber({ context, queue, body }: OperationInput): Response {
  const now = context.clock.now();
  const isReceiveAndDelete = readNumber(body, 'receiver-settle-mode') === 0;
  const found = readNumbers(body, 'sequence-numbers').map((sequence) => queue.findDeferred(sequence));
  if (!found.every((message) => message !== undefined)) return failure(404, wireErrors.messageNotFound());
  context.counters.add(queue.name, 'receives', found.length);
  const messages = found.map((message) => {
    if (isReceiveAndDelete) queue.remove(message);
    else queue.lockDeferred(message, now);
    return { ...lockToken(message), message: encodeDelivery(message) };
  });
  return success({ messages });
}

function lockToken({ lock }: Message): RequestBody {
  return lock === undefined ? {} : { 'lock-token': types.wrap_uuid(tokenToUuid(lock.token)) };
}

function scheduleMessage({ context, queue, body }: OperationInput): Response {
  if (queue.isDeadLetter)
    return failure(400, wireErrors.notAllowed('Messages cannot be scheduled among dead letters.'));
  const encoded = readMaps(body, 'messages').map(({ message }) => {
    if (Buffer.isBuffer(message)) return message;
    throw new ArgumentError('message must be binary.');
  });
  const size = encoded.reduce((sum, { length }) => sum + length, 0);
  if (size > limits.maxMessageBytes) return failure(403, wireErrors.messageTooLarge(limits.maxMessageBytes));
  const messages = encoded.map(readMessage);
  const problem = checkMessages(messages);
  if (problem !== undefined) return failure(400, problem);
  const outcome = context.namespace.send(queue, messages, context.clock.now());
  if (outcome.kind === 'quotaExceeded') return failure(403, wireErrors.quotaExceeded(outcome.queue));
  context.counters.add(queue.name, 'sends', messages.length);
  return success({ 'sequence-numbers': types.wrap_array(outcome.sequences, typeCodes.long) });
}

function cancelScheduledMessage({ queue, body }: OperationInput): Response {
  const found = readNumbers(body, 'sequence-numbers').map((sequence) => queue.findScheduled(sequence));
  if (!found.every((message) => message !== undefined)) return failure(404, wireErrors.messageNotFound());
  for (const message of found) queue.remove(message);
  return success();
}
