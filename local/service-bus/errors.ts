/**
 * Every error the broker answers with, in one place. The conditions are the ones the service uses, because clients
 * decide by them whether to retry.
 */

/** An AMQP error as it goes over the wire. */
export interface WireError {
  readonly condition: string;
  readonly description: string;
}

/** Thrown where bytes of a client are not valid AMQP. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const useInstead = 'Use the official Service Bus emulator or Azure for it.';

/** The errors by what went wrong. */
export const wireErrors = {
  unauthorized: (description: string): WireError => ({ condition: 'amqp:unauthorized-access', description }),
  entityNotFound: (entity: string): WireError => ({
    condition: 'amqp:not-found',
    description: `The messaging entity '${entity}' could not be found. Declare the queue in the topology the broker was started with.`,
  }),
  messageNotFound: (): WireError => ({
    condition: 'com.microsoft:message-not-found',
    description: 'No deferred or scheduled message has this sequence number.',
  }),
  lockLost: (): WireError => ({
    condition: 'com.microsoft:message-lock-lost',
    description:
      'The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.',
  }),
  quotaExceeded: (queue: string): WireError => ({
    condition: 'amqp:resource-limit-exceeded',
    description: `The maximum size of queue '${queue}' has been reached. Receive messages from it or raise maxSizeInMegabytes.`,
  }),
  messageTooLarge: (limit: number): WireError => ({
    condition: 'amqp:link:message-size-exceeded',
    description: `The message or batch is larger than ${limit} bytes.`,
  }),
  requestTooLarge: (limit: number): WireError => ({
    condition: 'amqp:link:message-size-exceeded',
    description: `The request is larger than ${limit} bytes.`,
  }),
  invalidArgument: (description: string): WireError => ({ condition: 'com.microsoft:argument-error', description }),
  malformed: (description: string): WireError => ({ condition: 'amqp:decode-error', description }),
  notAllowed: (description: string): WireError => ({ condition: 'amqp:not-allowed', description }),
  notSupported: (feature: string): WireError => ({
    condition: 'amqp:not-implemented',
    description: `The embedded broker does not support ${feature}. ${useInstead}`,
  }),
  internal: (description: string): WireError => ({ condition: 'amqp:internal-error', description }),
  notOpened: (limitMs: number): WireError => ({
    condition: 'amqp:connection:forced',
    description: `The connection was not opened within ${limitMs / 1000} seconds.`,
  }),
  framing: (description: string): WireError => ({ condition: 'amqp:connection:framing-error', description }),
  injected: (condition: string): WireError => ({ condition, description: 'Injected by a fault rule.' }),
} as const;
