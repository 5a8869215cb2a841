import type { Rejection } from '../contracts/rejection.js';
import { parseSupervisorHint } from '../contracts/supervisor-hint.js';
import { recoverOrder } from './recover-expired.js';
import type { SupervisorDeps } from './supervisor-run.js';

/** Looks at the order that a hint names. An order that needs nothing is no error: the hint was only a hint. */
export async function handleHint(body: unknown, deps: SupervisorDeps): Promise<Rejection | undefined> {
  const hint = parseSupervisorHint(body);
  if (!hint.ok) return hint.rejection;
  await recoverOrder(hint.value.orderId, deps);
  return undefined;
}
