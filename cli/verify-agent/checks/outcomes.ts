/** Checks about what the agent says: it answers, and tells no, never and unknown apart. */
import { notApplicable, judged } from '../finding.js';
import type { Finding } from '../finding.js';
import { ask, describe, expectEffects, expectOutcome, outcomeOf } from './check.js';
import type { Bench, Check } from './check.js';

/** Time that an unknown outcome is given, in milliseconds. */
const unknownDueInMs = 1_500;

export const answers: Check = {
  id: 'answers',
  title: 'A good request succeeds',
  rule: 'Receive from the request queue, do it, send the reply to the reply queue, then complete the request. In this order.',
  async run(bench) {
    const { answer } = await ask(bench, { order: 'good', attempt: 1 });
    const problems = expectOutcome('a good request', answer, ['succeeded']);
    if (answer.kind === 'silent') return judged([...problems, otherReceiver], '');
    return judged(problems, answer.kind === 'replied' ? `${describe(answer)} after ${answer.afterMs} ms` : '');
  },
};

const otherReceiver =
  'if the agent did reply, somebody else receives from the reply queue: turn off the app’s agent-reply function of this ' +
  'agent, or use a reply queue of its own';

/** A check that a payload with this name ends in the outcome. */
function classified(payload: 'refusal' | 'failure', outcome: 'refused' | 'failed', rule: string): Check {
  return {
    id: payload,
    title: `A ${payload} is answered as ${outcome}`,
    rule,
    async run(bench) {
      const given = bench.payloads[payload];
      if (given === undefined) return noPayload(payload);
      const { request, answer } = await ask(bench, { order: payload, attempt: 1, payload: given });
      const problems = expectOutcome('reply', answer, [outcome]);
      return judged([...problems, ...(await expectEffects(bench, request, 'done', 0))], describe(answer));
    },
  };
}

export const refusal = classified(
  'refusal',
  'refused',
  'Answer refused when the remote service definitely said no: what was done for the order is then undone.',
);

export const refusalRemembered: Check = {
  id: 'refusal-remembered',
  title: 'A refusal stands under its key',
  rule:
    'What was refused under an idempotencyKey must not be done under it later: the scheduler has taken the refusal for ' +
    'proof that nothing was done.',
  async run(bench) {
    const payload = bench.payloads.refusal;
    if (payload === undefined) return noPayload('refusal');
    await ask(bench, { order: 'refused-first', attempt: 1, payload });
    const { request, answer } = await ask(bench, { order: 'refused-first', attempt: 2 });
    const problems = expectOutcome('the same key again, with the payload of a success', answer, [
      'refused',
      'failed',
      'silent',
    ]);
    const effects = await expectEffects(bench, request, 'done', 0);
    return judged([...problems, ...effects], `the same key again, with the payload of a success: ${outcomeOf(answer)}`);
  },
};

export const failure = classified(
  'failure',
  'failed',
  'Answer failed when no repetition can help: the order then waits for an operator. Never for an unknown outcome.',
);

export const unknownOutcome: Check = {
  id: 'unknown',
  title: 'An unknown outcome gets no reply',
  rule: 'When the remote service gave no definite answer in time, say nothing: failed or refused could be untrue.',
  async run(bench: Bench): Promise<Finding> {
    const payload = bench.payloads.unknown;
    if (payload === undefined) return noPayload('unknown');
    const { answer } = await ask(bench, { order: 'unknown', attempt: 1, payload, dueInMs: unknownDueInMs });
    return judged(expectOutcome('reply', answer, ['silent']), 'no reply until the deadline, and none after it');
  },
};

function noPayload(name: string): Finding {
  return notApplicable(`no payload "${name}" in the --payload file`);
}
