/** What failed and what to do next; a stack trace only where nobody foresaw it. */
import { isServiceBusError } from '@azure/service-bus';
import { InvalidOrderError, StatusTimeoutError } from '../client/index.js';
import { CommandError } from './errors.js';

const explanations: readonly { readonly codes: readonly string[]; readonly explain: (message: string) => string }[] = [
  {
    codes: ['UnauthorizedAccess', 'UnauthorizedError'],
    explain: (message) =>
      `Service Bus refuses the access: ${message}\nCheck the connection string, or your role on the queue.`,
  },
  {
    codes: ['MessagingEntityNotFound', 'MessagingEntityNotFoundError'],
    explain: (message) => `${message}\nThe queues are those of infra/topology.json. Is that the right namespace?`,
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    explain: (message) => `The host is unknown: ${message}\nCheck the address.`,
  },
  {
    codes: ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    explain: (message) =>
      `Nothing answers there: ${message}\nCheck the address and the port. Is the stack still running? npm run local`,
  },
];

/** Explains an error, whatever it is wrapped in: the SDK hides the first cause in an AggregateError, or behind `cause`. */
export function explain(error: unknown): string {
  const all = withCauses(error);
  const foreseen = all.find(isForeseen);
  if (foreseen !== undefined) return foreseen.message;
  for (const { codes, explain: explainMessage } of explanations) {
    const found = all.find((each) => codes.includes(codeOf(each)));
    if (found !== undefined) return explainMessage(found.message);
  }
  const other = all.find(isServiceBusError);
  if (other !== undefined) {
    return `Service Bus does not answer (${codeOf(other)}): ${other.message}\nIs the stack still running? npm run local`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function isForeseen(error: Error): boolean {
  return error instanceof CommandError || error instanceof InvalidOrderError || error instanceof StatusTimeoutError;
}

function withCauses(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...inner.flatMap(withCauses), ...withCauses(error.cause)];
}

/** A code of the SDK, or of the operating system, which the SDK at times only quotes at the begin of its message. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const quoted = /\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b/.exec(
    error.message,
  );
  if (quoted?.[1] !== undefined) return quoted[1];
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
