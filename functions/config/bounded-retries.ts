import { callsPerStep, workflows } from '../state/order-workflow.js';
import type { Config } from './config.js';

/**
 * Checks the product of all retrying layers: attempts × deliveries of a request × calls in one delivery (R50, T70). The
 * clients of the remote services do not retry by themselves, and neither the host nor Durable repeats an agent.
 *
 * @throws Error that names the setting and the step
 */
export function requireBoundedRetries(config: Config): void {
  const maxAttempts = config.MAX_FAILURES + config.EXTENDED_RETRIES;
  const exceeding = workflows
    .flatMap((workflow) => workflow.steps)
    .filter((step) => callsPerStep(step, maxAttempts) > config.MAX_CALLS_PER_STEP);
  if (exceeding.length === 0) return;
  const list = exceeding.map((step) => `${step.id} ${callsPerStep(step, maxAttempts)}`).join(', ');
  throw new Error(
    `MAX_CALLS_PER_STEP: attempts × deliveries × calls exceed ${config.MAX_CALLS_PER_STEP} for: ${list}. ` +
      'Lower MAX_FAILURES or EXTENDED_RETRIES, or raise MAX_CALLS_PER_STEP.',
  );
}
