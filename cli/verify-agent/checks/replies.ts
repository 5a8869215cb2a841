/** Checks about the form of every reply of the run; they come last. */
import { agentReplySchema } from '../../../functions/contracts/agent-reply.js';
import { describeIssues } from '../../../functions/contracts/rejection.js';
import { judged, notApplicable } from '../finding.js';
import type { Finding } from '../finding.js';
import type { SeenReply } from '../reply-log.js';
import type { Bench, Check } from './check.js';

const echoed = ['schemaVersion', 'requestId', 'replyToken', 'orderId', 'attempt', 'stepId'] as const;

export const idsEchoed: Check = {
  id: 'ids-echoed',
  title: 'Every reply echoes the ids of its request',
  rule: `Copy ${echoed.join(', ')} from the request; a reply without them is foreign and is dropped.`,
  run: (bench) =>
    aboutEachReply(bench, ({ body, request }) =>
      echoed
        .filter((field) => body[field] !== request[field])
        .map((field) => `${field}: ${shown(body[field])} instead of ${shown(request[field])}`),
    ),
};

export const repliesByContract: Check = {
  id: 'reply-contract',
  title: 'Every reply is by the contract',
  rule: 'docs/schemas/agent-reply.json: one of the outcomes, a small flat result, a short error; nothing larger travels.',
  run: (bench) =>
    aboutEachReply(bench, ({ body, request }) => {
      // The ids are the business of the check above.
      const own = Object.fromEntries(echoed.map((field) => [field, request[field]]));
      const parsed = agentReplySchema.safeParse({ ...body, ...own });
      return parsed.success ? [] : [describeIssues(parsed.error)];
    }),
};

export const replyMessageId: Check = {
  id: 'reply-message-id',
  title: 'Every reply is sent under the id of its request',
  rule: 'Send the reply with MessageId = requestId, so that the broker drops a repeated one.',
  run: (bench) =>
    aboutEachReply(bench, ({ message: { messageId }, request: { requestId } }) =>
      messageId === requestId ? [] : [`MessageId ${shown(messageId)} instead of ${shown(requestId)}`],
    ),
};

function aboutEachReply({ link }: Bench, look: (reply: SeenReply) => readonly string[]): Promise<Finding> {
  const { replies } = link;
  if (replies.length === 0) return Promise.resolve(notApplicable('there was no reply'));
  const wrong = replies.map(look).filter((problems) => problems.length > 0);
  const [example = []] = wrong;
  const problems =
    wrong.length === 0 ? [] : [`${wrong.length} of ${replies.length} replies, for example ${example.join('; ')}`];
  return Promise.resolve(judged(problems, `${replies.length} replies`));
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
