/** All checks, in the order of the report. */
import { notApplicable } from '../finding.js';
import type { Finding } from '../finding.js';
import type { Bench, Check } from './check.js';
import { doAfterUndo, expired, lowerToken, oneEffect, undo, undoOfNothing } from './effects.js';
import { goesOn, largeRequest, malformed } from './messages.js';
import { answers, failure, refusal, refusalRemembered, unknownOutcome } from './outcomes.js';
import { idsEchoed, repliesByContract, replyMessageId } from './replies.js';

export const allChecks: readonly Check[] = [
  answers,
  refusal,
  refusalRemembered,
  failure,
  unknownOutcome,
  oneEffect,
  lowerToken,
  expired,
  undo,
  undoOfNothing,
  doAfterUndo,
  malformed,
  goesOn,
  largeRequest,
  idsEchoed,
  repliesByContract,
  replyMessageId,
];

/** A check and what it found. */
export interface CheckResult {
  readonly check: Check;
  readonly finding: Finding;
}

/** Runs all checks one after the other; without an answer to a good request nothing else can be told. */
export async function runChecks(
  bench: Bench,
  onResult: (result: CheckResult) => void = () => undefined,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of allChecks) {
    const isDumb = results[0]?.finding.kind === 'failed';
    const finding = isDumb ? notApplicable('not run: a good request does not succeed') : await check.run(bench);
    results.push({ check, finding });
    onResult({ check, finding });
  }
  return results;
}
