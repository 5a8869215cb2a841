/** SDK errors, translated once: does trying again help? */
import { isServiceBusError } from '@azure/service-bus';
import { PermanentError, TransientError } from '../state/errors.js';

const permanentStatusCodes: readonly number[] = [400, 413];

/**
 * Error of a Cosmos DB call. Timeouts, throttling and everything unknown may pass (C41, T43). So may a missing right or
 * container, as after a first deployment: it is a fault of the deployment, for which no order is set aside.
 */
export function cosmosError(error: unknown): Error {
  const { code, message } = asCoded(error);
  const isPermanent = typeof code === 'number' && permanentStatusCodes.includes(code);
  return isPermanent
    ? new PermanentError(`Cosmos${code}`, message.slice(0, 500), { cause: error })
    : new TransientError(`state store: ${message.slice(0, 500)}`, { cause: error });
}

/** Answers of the broker to a send. After one of them the connection works. */
const answerCodes: readonly unknown[] = [
  'MessagingEntityNotFound',
  'MessagingEntityDisabled',
  'MessageSizeExceeded',
  'UnauthorizedAccess',
  'ServiceBusy',
  'QuotaExceeded',
];

/** Whether the broker itself refused the call. */
export function hasAnswer(error: unknown): boolean {
  const last = lastTry(error);
  return isServiceBusError(last) && answerCodes.includes(last.code);
}

/**
 * Error of a Service Bus call. A full queue and a broken connection may pass. So may a queue that is missing, disabled or
 * forbidden: it is a fault of the deployment, for which no order is set aside. Only a message that is too large never fits.
 */
export function serviceBusError(error: unknown): Error {
  const { code, message } = asCoded(error);
  return code === 'MessageSizeExceeded'
    ? new PermanentError(code, message.slice(0, 500), { cause: error })
    : new TransientError(`broker: ${message.slice(0, 500)}`, { cause: error });
}

/** The item of a Cosmos DB answer is absent; a 404 with a sub-status means something else. */
export function isAbsent({ code, substatus }: { readonly code: unknown; readonly substatus?: unknown }): boolean {
  return code === 404 && (substatus === undefined || substatus === 0);
}

/** The item is not, or no longer, what a conditional write expects. */
export function isConflict(error: unknown): boolean {
  const { code, substatus } = asCoded(error);
  return code === 412 || code === 409 || isAbsent({ code, substatus });
}

/** The status code of a Cosmos DB error, if it has one. */
export function statusCodeOf(error: unknown): number | undefined {
  const { code } = asCoded(error);
  return typeof code === 'number' ? code : undefined;
}

/** The SDK bundles the errors of its own tries. */
function lastTry(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? lastTry(error.errors.at(-1)) : error;
}

function asCoded(given: unknown): { code: unknown; substatus: unknown; message: string } {
  const error = lastTry(given);
  if (!(error instanceof Object)) return { code: undefined, substatus: undefined, message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  const message = 'message' in error ? String(error.message) : 'unknown error';
  const substatus = 'substatus' in error ? error.substatus : undefined;
  return { code, substatus, message };
}
