/** True for the output of an attempt that ended because the time of its step was up. */
export function isTimedOut(output: unknown): boolean {
  return output instanceof Object && 'kind' in output && output.kind === 'timedOut';
}
