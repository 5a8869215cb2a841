/** Checks about effects at the remote service: each key once, none of a lower token, none left after its undo. */
import type { Answer } from '../agent-link.js';
import { judged, notApplicable } from '../finding.js';
import type { Finding } from '../finding.js';
import {
  ask,
  buildRequest,
  expectEffects,
  expectOutcome,
  expectSameResult,
  ledgerNote,
  outcomeOf,
  resultOf,
} from './check.js';
import type { Bench, Check } from './check.js';

export const oneEffect: Check = {
  id: 'one-effect',
  title: 'One idempotency key has one effect and one answer',
  rule: 'Pass idempotencyKey on as it is, so that deliveries and attempts with one key have one effect and one answer.',
  async run(bench) {
    const repeated = await repeatedRequests(bench);
    const overlapping = await overlappingRequests(bench);
    const nothingToCompare = bench.effects === undefined && isEmpty(resultOf(repeated.first));
    if (nothingToCompare) return notApplicable('the replies hold no result to compare, and there is no --ledger-url');
    return judged(
      [...repeated.problems, ...overlapping],
      `5 requests with 2 keys; ${ledgerNote(bench, 'the ledger has 2 effects')}`,
    );
  },
};

/** The same request again, then the next attempt. */
async function repeatedRequests(
  bench: Bench,
): Promise<{ readonly first: Answer; readonly problems: readonly string[] }> {
  const { link } = bench;
  const { request, answer: first } = await ask(bench, { order: 'repeated', attempt: 1 });
  // The second reply has the MessageId of the first: a queue with duplicate detection does not show it.
  const again = await link.answerTo(await link.send(request, `${request.requestId}.again`));
  const { answer: next } = await ask(bench, { order: 'repeated', attempt: 2 });
  return {
    first,
    problems: [
      ...expectOutcome('second delivery', again, ['succeeded', 'silent']),
      ...expectSameResult('second delivery', first, again),
      ...expectOutcome('attempt 2', next, ['succeeded']),
      ...expectSameResult('attempt 2', first, next),
      ...(await expectEffects(bench, request, 'done', 1)),
    ],
  };
}

/** Two attempts at once: the older one may be told that it is superseded. */
async function overlappingRequests(bench: Bench): Promise<readonly string[]> {
  const { link } = bench;
  const older = buildRequest(bench, { order: 'overlapping', attempt: 1 });
  const newer = buildRequest(bench, { order: 'overlapping', attempt: 2 });
  const [olderSent, newerSent] = await Promise.all([link.send(older), link.send(newer)]);
  const newerAnswer = await link.answerTo(newerSent);
  const olderAnswer = await link.answerTo(olderSent);
  return [
    ...expectOutcome('overlapping attempt 2', newerAnswer, ['succeeded']),
    ...expectOutcome('overlapping attempt 1', olderAnswer, ['succeeded', 'refused', 'silent']),
    ...expectSameResult('overlapping attempts', newerAnswer, olderAnswer),
    ...(await expectEffects(bench, newer, 'done', 1)),
  ];
}

export const lowerToken: Check = {
  id: 'lower-token',
  title: 'A lower fencing token is turned away',
  rule: 'Pass fencingToken on; when it is lower than one seen for the order, do nothing and answer refused or not at all.',
  async run(bench) {
    const { answer: newer } = await ask(bench, { order: 'lower-token', attempt: 2 });
    const { request, answer } = await ask(bench, { order: 'lower-token', attempt: 1 });
    return judged(
      [
        ...expectOutcome('token 2', newer, ['succeeded']),
        ...expectOutcome('token 1 after it', answer, ['refused', 'silent']),
        ...(await expectEffects(bench, request, 'done', 1)),
      ],
      `token 1 after token 2: ${outcomeOf(answer)}; ${ledgerNote(bench, '1 effect')}`,
    );
  },
};

export const undo: Check = {
  id: 'undo',
  title: 'An undo takes the effect back, and may be repeated',
  rule: 'With action "undo", undo the step under its own idempotencyKey; a repeated undo succeeds too.',
  async run(bench) {
    const { answer: done } = await ask(bench, { order: 'undo', attempt: 1 });
    const { answer: undone } = await ask(bench, { order: 'undo', attempt: 2, action: 'undo' });
    const { request, answer: again } = await ask(bench, { order: 'undo', attempt: 3, action: 'undo' });
    return judged(
      [
        ...expectOutcome('do', done, ['succeeded']),
        ...expectOutcome('undo', undone, ['succeeded']),
        ...expectOutcome('undo again', again, ['succeeded']),
        ...(await expectEffects(bench, request, 'left', 0)),
      ],
      `do, undo, undo again: succeeded; ${ledgerNote(bench, 'no effect is left')}`,
    );
  },
};

export const undoOfNothing: Check = {
  id: 'undo-of-nothing',
  title: 'An undo of something never done succeeds',
  rule: 'Answer succeeded to an undo of what was never done: the scheduler undoes steps whose outcome it does not know.',
  async run(bench) {
    const { request, answer } = await ask(bench, { order: 'undo-of-nothing', attempt: 1, action: 'undo' });
    return judged(
      [...expectOutcome('undo', answer, ['succeeded']), ...(await expectEffects(bench, request, 'left', 0))],
      `succeeded; ${ledgerNote(bench, 'no effect')}`,
    );
  },
};

export const doAfterUndo: Check = {
  id: 'do-after-undo',
  title: 'A do after its undo is turned away',
  rule: 'Remember each undo, also of what was never done: a do that arrives later has no effect, and is refused or not answered.',
  async run(bench) {
    const never = await doAgainAfterUndo(bench, 'undone-before', 1);
    await ask(bench, { order: 'undone', attempt: 1 });
    const undone = await doAgainAfterUndo(bench, 'undone', 2);
    return judged([...never.problems, ...undone.problems], `${never.seen}, ${undone.seen}`);
  },
};

interface DoneAgain {
  readonly problems: readonly string[];
  readonly seen: string;
}

async function doAgainAfterUndo(bench: Bench, order: string, attempt: number): Promise<DoneAgain> {
  await ask(bench, { order, attempt, action: 'undo' });
  const { request, answer } = await ask(bench, { order, attempt: attempt + 1 });
  const what = order === 'undone' ? 'after do and undo' : 'after undo alone';
  const problems = [
    ...expectOutcome(what, answer, ['refused', 'silent']),
    ...(await expectEffects(bench, request, 'left', 0)),
  ];
  return { problems, seen: `${what}: ${outcomeOf(answer)}` };
}

export const expired: Check = {
  id: 'expired',
  title: 'A request whose time is over has no effect and no reply',
  rule: 'Compare completeBy with the clock before each call of the remote service; when it has passed, do nothing, say nothing.',
  async run(bench): Promise<Finding> {
    const { request, answer } = await ask(bench, { order: 'expired', attempt: 1, dueInMs: -60_000 });
    return judged(
      [...expectOutcome('a minute late', answer, ['silent']), ...(await expectEffects(bench, request, 'done', 0))],
      `a minute late: no reply; ${ledgerNote(bench, 'no effect')}`,
    );
  },
};

function isEmpty(result: unknown): boolean {
  return typeof result !== 'object' || result === null || Object.keys(result).length === 0;
}
