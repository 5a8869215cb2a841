import { beforeEach, describe, expect, it } from 'vitest';
import { paymentAgent } from '../../functions/agents/payment-agent.js';
import type { RemoteOutcome } from '../../functions/agents/remote-service.js';
import { serveMessage } from '../../functions/agents/serve-message.js';
import type { MessageDeps } from '../../functions/agents/serve-message.js';
import { createRecentMap } from '../../functions/azure/recent-map.js';
import { agentReplySchema } from '../../functions/contracts/agent-reply.js';
import { createAgentBench, paymentRequest, remoteOutcomes } from '../support/agent-bench.js';
import type { AgentBench } from '../support/agent-bench.js';
import { createRecordingSender } from '../support/recording.js';
import type { RecordingSender } from '../support/recording.js';

const { unknown, succeeded, refused } = remoteOutcomes;

let bench: AgentBench;
beforeEach(() => {
  bench = createAgentBench();
});

function messageDeps(outcomes: readonly RemoteOutcome[]): MessageDeps & { readonly sender: RecordingSender } {
  return { ...bench.depsWith(outcomes), sender: createRecordingSender(), answered: createRecentMap(10) };
}

describe('serveMessage', () => {
  it('sends the reply to the agent’s own queue under the request’s id, so that a repeat is dropped (T25, R96)', async () => {
    const deps = messageDeps([succeeded]);
    const { sender } = deps;
    for (const deliveryCount of [1, 2]) await serveMessage(paymentAgent, { body: paymentRequest, deliveryCount }, deps);
    expect(sender.queued('payment-replies')).toHaveLength(1);
    expect(sender.sent[0]).toMatchObject({
      messageId: 'A-1.2.payment',
      correlationId: 'A-1',
      body: { outcome: 'succeeded' },
    });
  });

  it('sends nothing when there is nothing definite to say', async () => {
    const deps = messageDeps([unknown]);
    expect(await serveMessage(paymentAgent, { body: paymentRequest, deliveryCount: 1 }, deps)).toBeUndefined();
    expect(deps.sender.sent).toEqual([]);
  });

  it.each([
    ['a refusal', [refused, succeeded], 'refused'],
    ['a deferral', [{ kind: 'busy', retryAfterMs: 60_000 }, succeeded], 'deferred'],
  ] as const)(
    'gives a request that comes again the same answer, so that %s stays true',
    async (_name, outcomes, outcome) => {
      const deps = messageDeps(outcomes);
      for (const deliveryCount of [1, 2])
        await serveMessage(paymentAgent, { body: paymentRequest, deliveryCount }, deps);
      expect(bench.calls).toHaveLength(1);
      expect(deps.sender.sent.map(({ body }) => body)).toMatchObject([{ outcome }, { outcome }]);
    },
  );

  it('serves a request that comes again after silence, and one with another token', async () => {
    const deps = messageDeps([unknown, succeeded, refused]);
    const once = { ...paymentRequest, callAllowance: 1 };
    const other = { ...once, replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a22' };
    for (const body of [once, once, other]) await serveMessage(paymentAgent, { body, deliveryCount: 2 }, deps);
    expect(bench.calls).toHaveLength(3);
    expect(deps.sender.sent.map(({ body }) => body)).toMatchObject([{ outcome: 'succeeded' }, { outcome: 'refused' }]);
  });

  it('refuses what is no request, without a call', async () => {
    const deps = messageDeps([succeeded]);
    const message = { body: { ...paymentRequest, fencingToken: 0 }, deliveryCount: 1 };
    expect(await serveMessage(paymentAgent, message, deps)).toMatchObject({ reason: 'InvalidRequest' });
    expect(bench.calls).toEqual([]);
  });

  it.each([
    [1, undefined],
    [2, true],
    [NaN, true],
  ])('calls the refusal of delivery %d uncertain: %s (G6)', async (deliveryCount, uncertain) => {
    const deps = messageDeps([refused]);
    await serveMessage(paymentAgent, { body: paymentRequest, deliveryCount }, deps);
    const [reply] = deps.sender.sent.map(({ body }) => agentReplySchema.parse(body));
    expect(reply).toMatchObject({ outcome: 'refused' });
    expect(reply?.uncertain).toBe(uncertain);
  });
});
