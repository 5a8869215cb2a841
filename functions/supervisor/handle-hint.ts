import type { Rejection } from '../contracts/rejection.js';
import { parseSupervisorHint } from '../contracts/supervisor-hint.js';
import { PermanentError } from '../state/errors.js';
import { recoverHinted } from './recover-order.js';
import type { SupervisorDeps } from './supervisor-run.js';

/**
 * Looks at the order that a hint names. An order that needs nothing is no error, and a hint or a record that this build
 * cannot read is dropped: the hint was only a hint, and the scan reports the record.
 *
 * @returns the refusal of a message that is no hint
 */
export async function handleHint(body: unknown, deps: SupervisorDeps): Promise<Rejection | undefined> {
  const hint = parseSupervisorHint(body);
  if (!hint.ok) return hint.rejection.reason === 'UnsupportedSchemaVersion' ? undefined : hint.rejection;
  try {
    await recoverHinted(hint.value, deps);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
  }
  return undefined;
}
