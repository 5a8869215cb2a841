import type { ServiceBusClient } from '@azure/service-bus';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callVerifyAgent, startVerifyBench } from '../support/verify-agent-run.js';
import type { BenchRun, VerifyBench } from '../support/verify-agent-run.js';
import type { SampleParts, SampleRequest } from '../support/verify-agent-sample.js';
import { goodParts } from '../support/verify-agent-sample.js';

let bench: VerifyBench;

beforeAll(async () => {
  bench = await startVerifyBench(40);
});

afterAll(async () => {
  await bench.close();
});

interface Report {
  readonly passed: boolean;
  readonly checks: readonly { readonly id: string; readonly result: string; readonly seen: string }[];
}

async function failuresOf(run: BenchRun): Promise<readonly string[]> {
  const { output, exitCode, errors } = await bench.verify({ ...run, options: ['--json'] });
  expect(errors).toBe('');
  const { checks, passed } = JSON.parse(output) as Report;
  const failures = checks.filter(({ result }) => result === 'failed').map(({ id }) => id);
  expect(passed).toBe(failures.length === 0);
  expect(exitCode).toBe(failures.length === 0 ? 0 : 1);
  return failures;
}

/** A reply with these fields in place of its own. */
function replying(change: (request: SampleRequest) => object): Partial<SampleParts> {
  return { toReply: (request, outcome) => ({ ...goodParts.toReply(request, outcome), ...change(request) }) };
}

function isSuccess(request: SampleRequest): boolean {
  return request.action === 'do' && request.payload.behave === undefined;
}

/** After a message that it cannot read, it loses the next request. */
function shakenByUnreadable(): Partial<SampleParts> {
  let isShaken = false;
  return {
    whyUnreadable: (body) => {
      const reason = goodParts.whyUnreadable(body);
      isShaken ||= reason !== undefined;
      return reason;
    },
    isSilent: () => {
      const drops = isShaken;
      isShaken = false;
      return drops;
    },
  };
}

/** Remembers an undo, but says no when there was nothing to undo. */
const refusesUndoOfNothing: SampleParts['undo'] = (entry) => {
  const wasDone = entry.effects.size > 0;
  const outcome = goodParts.undo(entry);
  return wasDone ? outcome : { outcome: 'refused', error: { code: 'Nothing', message: 'nothing to undo' } };
};

const refusesSecondUndo: SampleParts['undo'] = (entry) =>
  entry.undone ? { outcome: 'failed', error: { code: 'Again', message: 'undone already' } } : goodParts.undo(entry);

const mistakes: readonly (readonly [check: string, mistake: string, parts: Partial<SampleParts>])[] = [
  ['answers', 'takes requests and says nothing', { isSilent: () => true }],
  [
    'refusal',
    'calls a refusal a failure',
    { misbehave: (behave) => goodParts.misbehave(behave.replace('refused', 'failed')) },
  ],
  ['refusal-remembered', 'forgets what it has refused', { isRefused: () => false }],
  [
    'failure',
    'calls a failure a refusal',
    { misbehave: (behave) => goodParts.misbehave(behave.replace('failed', 'refused')) },
  ],
  [
    'unknown',
    'calls an unknown outcome a failure',
    { misbehave: (behave) => goodParts.misbehave(behave.replace('unknown', 'failed')) },
  ],
  ['one-effect', 'puts the attempt into the key', { keyOf: ({ idempotencyKey: key, attempt }) => `${key}.${attempt}` }],
  [
    'one-effect',
    'makes a key of its own in each delivery',
    { keyOf: ({ idempotencyKey: key }, delivery) => `${key}.${delivery}` },
  ],
  ['lower-token', 'knows no fencing tokens', { isStale: () => false }],
  ['expired', 'does not look at completeBy', { isOver: () => false }],
  ['undo', 'fails when it is to undo once more', { undo: refusesSecondUndo }],
  ['undo-of-nothing', 'refuses to undo what was never done', { undo: refusesUndoOfNothing }],
  ['do-after-undo', 'forgets what it has undone', { isUndone: () => false }],
  ['malformed', 'drops what it cannot read', { onUnreadable: 'complete' }],
  ['malformed', 'leaves what it cannot read to the broker', { onUnreadable: 'abandon' }],
  ['goes-on', 'loses the request behind an unreadable message', shakenByUnreadable()],
  ['large-request', 'loses large requests', { isSilent: ({ payload }) => JSON.stringify(payload).length > 100_000 }],
  [
    'ids-echoed',
    'replies with a token of its own',
    replying(() => ({ replyToken: '00000000-0000-4000-8000-000000000000' })),
  ],
  ['ids-echoed', 'replies without the request id', replying(() => ({ requestId: undefined }))],
  ['ids-echoed', 'replies with another order id', replying(({ orderId }) => ({ orderId: orderId.toUpperCase() }))],
  ['ids-echoed', 'replies with the attempt as text', replying(({ attempt }) => ({ attempt: String(attempt) }))],
  ['ids-echoed', 'replies for another step', replying(() => ({ stepId: 'other' }))],
  ['ids-echoed', 'replies in another schema version', replying(() => ({ schemaVersion: 2 }))],
  [
    'reply-contract',
    'gives a result that is too long',
    replying((request) => (isSuccess(request) ? { result: { all: 'x'.repeat(300) } } : {})),
  ],
  [
    'reply-contract',
    'gives a result with objects in it',
    replying((request) => (isSuccess(request) ? { result: { of: { it: 1 } } } : {})),
  ],
  [
    'reply-contract',
    'gives an error code that is a sentence',
    replying(({ payload }) => (payload.behave === undefined ? {} : { error: { code: 'it said no', message: '' } })),
  ],
  ['reply-message-id', 'replies under an id of its own', { replyMessageId: ({ requestId }) => `${requestId}.reply` }],
];

describe.concurrent('an agent that breaks the contract', () => {
  it.each(mistakes)('fails the check %s and no other when it %s', async (check, _mistake, parts) => {
    expect(await failuresOf({ parts })).toEqual([check]);
  });

  it('is found out by the ledger when it says nothing about what it does too late', async () => {
    const parts: Partial<SampleParts> = { isOver: () => false, isSilent: goodParts.isOver };
    expect(await failuresOf({ parts })).toEqual([]);
    expect(await failuresOf({ parts, withLedger: true })).toEqual(['expired']);
  });
});

describe.concurrent('an agent that keeps the contract', () => {
  it('passes every check, its effects counted in the ledger', async () => {
    const { exitCode, output, errors } = await bench.verify({ withLedger: true });
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' });
    expect(output).toMatch(/^One idempotency key has one effect and one answer +passed +.*the ledger has 2 effects$/m);
    expect(output).toMatch(/\n17 passed, 0 failed, 0 not applicable\.\n$/);
  });

  it('may have several instances, which share its queues (R28)', async () => {
    const { exitCode, served } = await bench.verify({ withLedger: true, instances: 3 });
    expect(exitCode).toBe(0);
    expect(served.filter((count) => count > 0).length).toBeGreaterThan(1);
  });

  it('is not asked for outcomes that no payload brings about', async () => {
    const { exitCode, output } = await bench.verify({ payloads: { success: {} } });
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^A refusal is answered as refused +not applicable +no payload "refusal"/m);
    expect(output).toMatch(/\n13 passed, 0 failed, 4 not applicable\.\n$/);
  });
});

/** Takes the oldest reply when the verification has seen it: it asks the next only then. */
async function takeOneReply(client: ServiceBusClient, queue: string): Promise<void> {
  const receiver = client.createReceiver(queue, { receiveMode: 'receiveAndDelete' });
  let count = 0;
  while (count < 3) count += (await receiver.peekMessages(10)).length;
  await receiver.receiveMessages(1);
  await receiver.close();
}

describe('the verification', () => {
  it('explains a failure: what was seen, and the rule', async () => {
    const { exitCode, output } = await bench.verify({ parts: { isStale: () => false } });
    expect(exitCode).toBe(1);
    expect(output).toContain('(lower-token)\n  seen  token 1 after it: succeeded {"reference":');
    expect(output).toContain('  rule  Pass fencingToken on;');
    expect(output).toMatch(/\n16 passed, 1 failed, 0 not applicable\.\n$/);
  });

  it('tells nothing when somebody else receives from the reply queue', async () => {
    const { exitCode, output, errors } = await bench.verify({ beside: takeOneReply });
    expect(exitCode).toBe(2);
    expect(output).not.toContain('passed');
    expect(errors).toContain('Somebody else receives from agent-');
  });

  it('cannot run where the queues are not', async () => {
    const place = ['--service-bus', bench.connectionString, '--agent', 'payment'];
    const { exitCode, errors } = await callVerifyAgent(place);
    expect(exitCode).toBe(2);
    expect(errors).toContain('Name the queues with --requests, --replies and --dead-letters.');
  });
});

describe('our own agents', () => {
  it.each(['payment', 'shipping'])('keep the contract: %s', async (agent) => {
    const { exitCode, output, errors } = await callVerifyAgent(['--local', agent, '--quiet-ms', '300']);
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' });
    expect(output).toContain('17 passed, 0 failed, 0 not applicable.');
  });
});
