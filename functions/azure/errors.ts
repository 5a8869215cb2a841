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

const permanentServiceBusCodes: readonly string[] = [
  'MessagingEntityNotFound',
  'MessagingEntityDisabled',
  'MessageSizeExceeded',
  'UnauthorizedAccess',
];

const answerCodes: readonly string[] = [...permanentServiceBusCodes, 'ServiceBusy', 'QuotaExceeded'];

/** Whether the broker itself said no: then the connection works. */
export function hasAnswer(error: unknown): boolean {
  return isServiceBusError(error) && answerCodes.includes(error.code);
}

/** Error of a Service Bus call. A full queue and a broken connection may pass. */
export function serviceBusError(error: unknown): Error {
  const isPermanent = isServiceBusError(error) && permanentServiceBusCodes.includes(error.code);
  const { message } = asCoded(error);
  return isPermanent
    ? new PermanentError(error.code, message.slice(0, 500), { cause: error })
    : new TransientError(`broker: ${message.slice(0, 500)}`, { cause: error });
}

/** The status code of a Cosmos DB error, if it has one. */
export function statusCodeOf(error: unknown): number | undefined {
  const { code } = asCoded(error);
  return typeof code === 'number' ? code : undefined;
}

function asCoded(error: unknown): { code: unknown; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return asCoded(error.errors[0]);
  if (!(error instanceof Object)) return { code: undefined, message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  const message = 'message' in error ? String(error.message) : 'unknown error';
  return { code, message };
}
