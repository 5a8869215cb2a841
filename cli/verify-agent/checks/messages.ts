/** Checks about messages that are no good requests. */
import { agentRequestId } from '../../../functions/contracts/identifiers.js';
import type { AgentRequest } from '../../../functions/contracts/agent-request.js';
import type { Sent } from '../agent-link.js';
import { judged } from '../finding.js';
import { ask, buildRequest, describe, expectOutcome } from './check.js';
import type { Bench, Check } from './check.js';

/** Reason that the broker gives when nobody has said anything about a message. */
const brokerReason = 'MaxDeliveryCountExceeded';

/** Near the 256 KB that a message of the Standard tier may have, with room for its other fields. */
const paddingLength = 200_000;

export const malformed: Check = {
  id: 'malformed',
  title: 'What is no request goes to the dead-letter queue, with a reason',
  rule:
    'Put a message that you cannot read into the dead-letter queue at its first delivery, under its MessageId and with ' +
    'DeadLetterReason; then complete it.',
  async run(bench) {
    const problems: string[] = [];
    const reasons: string[] = [];
    for (const { what, sent } of await sendMalformed(bench, 'malformed')) {
      const letter = await bench.link.deadLetterOf(sent);
      if (letter === undefined) problems.push(`${what}: no dead letter`);
      else if (letter.reason === '' || letter.reason === brokerReason)
        problems.push(`${what}: dead letter without a reason of the agent`);
      else reasons.push(letter.reason);
    }
    return judged(problems, [...new Set(reasons)].join(', '));
  },
};

export const goesOn: Check = {
  id: 'goes-on',
  title: 'What is no request blocks nothing',
  rule: 'A message that you cannot read must neither end the agent nor hold up the requests behind it.',
  async run(bench) {
    await sendMalformed(bench, 'goes-on');
    const { answer } = await ask(bench, { order: 'behind-malformed', attempt: 1 });
    return judged(
      expectOutcome('a good request behind them', answer, ['succeeded']),
      'a good request behind them succeeded',
    );
  },
};

export const largeRequest: Check = {
  id: 'large-request',
  title: 'A request near the size limit is settled',
  rule: 'Serve a request of up to 256 KB, or put it into the dead-letter queue with a reason. Keep it out of the reply.',
  async run(bench) {
    const payload = { ...bench.payloads.success, padding: 'x'.repeat(paddingLength) };
    const request = buildRequest(bench, { order: 'large-request', attempt: 1, payload });
    const sent = await bench.link.send(request);
    const answer = await bench.link.answerTo(sent);
    if (answer.kind === 'replied') return judged([], describe(answer));
    const letter = await bench.link.deadLetterOf(sent);
    return judged(
      letter === undefined ? [`no dead letter, ${describe(answer)}`] : [],
      `dead letter: ${letter?.reason ?? ''}`,
    );
  },
};

interface Malformed {
  readonly what: string;
  readonly sent: Sent;
}

async function sendMalformed(bench: Bench, label: string): Promise<readonly Malformed[]> {
  const sent: Malformed[] = [];
  for (const [what, textOf] of Object.entries(mistakes)) {
    const request = buildRequest(bench, { order: `${label}-${sent.length + 1}`, attempt: 1 });
    const messageId = agentRequestId(request.orderId, request.attempt, request.stepId);
    sent.push({ what, sent: await bench.link.sendText(textOf(request), messageId) });
  }
  return sent;
}

const mistakes: Readonly<Record<string, (request: AgentRequest) => string>> = {
  'cut-off JSON': (request) => JSON.stringify(request).slice(0, -10),
  'a list': (request) => JSON.stringify([request]),
  'no orderId': (request) => JSON.stringify({ ...request, orderId: undefined }),
  'a newer schemaVersion': (request) => JSON.stringify({ ...request, schemaVersion: 99 }),
};
