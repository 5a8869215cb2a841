import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allChecks } from '../../cli/verify-agent/checks/all.js';
import { createLedgerCounter } from '../../cli/verify-agent/effects.js';
import { failed, passed } from '../../cli/verify-agent/finding.js';
import { parseVerifyOptions } from '../../cli/verify-agent/options.js';
import { readPayloads } from '../../cli/verify-agent/payloads.js';
import { drawReport } from '../../cli/verify-agent/report.js';
import { createRequestFactory } from '../../cli/verify-agent/requests.js';
import { withoutColour } from '../../cli/terminal/paint.js';
import { parseAgentRequest } from '../../functions/contracts/agent-request.js';
import { findProjectRoot } from '../../local/project.js';

const root = findProjectRoot();

function parse(...args: string[]) {
  return parseVerifyOptions(args, root);
}

describe('the options of verify-agent', () => {
  it('name the queues, the step and the payloads after the agent', () => {
    expect(parse('--agent', 'payment')).toMatchObject({
      localAgent: undefined,
      queues: {
        requests: 'payment-requests',
        replies: 'payment-replies',
        deadLetters: 'payment-requests-dead-letter',
      },
      stepId: 'payment',
      payloadFile: join(root, 'cli', 'verify-agent', 'payloads', 'payment.json'),
      patience: { timeoutMs: 10_000, quietMs: 1_000 },
    });
  });

  it('take queues that are called otherwise', () => {
    const names = ['--requests', 'in', '--replies', 'out', '--dead-letters', 'bad'];
    expect(parse(...names, '--step', 'stamp', '--payload', 'p.json')).toMatchObject({
      queues: { requests: 'in', replies: 'out', deadLetters: 'bad' },
      stepId: 'stamp',
      payloadFile: 'p.json',
    });
  });

  it.each([
    [[], /Which agent\?/],
    [['--requests', 'in'], /Which agent\?/],
    [['--requests', 'in', '--replies', 'out'], /--step is missing/],
    [['--agent', 'Payment', '--payload', 'p.json'], /"Payment" is no step id/],
    [['--agent', 'stamps'], /--payload is missing/],
    [['--local', 'payment', '--ledger-url', 'http://127.0.0.1/'], /--local and --ledger-url exclude each other/],
    [['--agent', 'payment', '--ledger-url', 'here'], /--ledger-url is no URL/],
    [['--agent', 'payment', '--timeout-ms', 'soon'], /--timeout-ms is "soon"/],
    [['--agent', 'payment', 'shipping'], /Unexpected argument: shipping/],
  ])('are refused with what to do when they are %j', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });
});

describe('the requests of verify-agent', () => {
  const requests = createRequestFactory('payment', 1_000);

  it('keep the contract and its ids', () => {
    const request = requests.build({ order: 'one', attempt: 3, payload: {} });
    expect(parseAgentRequest(request)).toEqual({ ok: true, value: request });
    expect(request).toMatchObject({ idempotencyKey: `${request.orderId}.payment`, fencingToken: 3 });
  });

  it('have a key of their own for an undo', () => {
    const request = requests.build({ order: 'one', attempt: 3, payload: {}, action: 'undo' });
    expect(request.idempotencyKey).toBe(`${request.orderId}.payment.undo`);
  });

  it('are for orders that no other run uses', () => {
    const other = createRequestFactory('payment', 1_000);
    const wish = { order: 'one', attempt: 1, payload: {} };
    expect(other.build(wish).orderId).not.toBe(requests.build(wish).orderId);
  });
});

describe('a file of payloads', () => {
  const directory = mkdtempSync(join(tmpdir(), 'payloads-'));

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  function fileWith(text: string): string {
    const path = join(directory, 'payloads.json');
    writeFileSync(path, text);
    return path;
  }

  it('needs a success alone', () => {
    expect(readPayloads(fileWith('{"success":{"a":1}}'))).toEqual({ success: { a: 1 } });
  });

  it.each([
    ['{"refusal":{}}', /success: .*"refusal", "failure" and "unknown"/],
    ['{"success":{},"sucess":{}}', /Unrecognized key: "sucess"/],
    ['{', /is not valid JSON/],
  ])('is refused with what it must hold when it is %s', (text, message) => {
    expect(() => readPayloads(fileWith(text))).toThrow(message);
  });
});

describe('the ledger', () => {
  const answers: Readonly<Record<string, unknown>> = {
    '/none': [],
    '/other': [{ service: 'shipping', effect: { key: 'k' }, undo: null, furtherKeys: [] }],
    '/once': [{ service: 'payment', effect: { key: 'k' }, undo: null, furtherKeys: [] }],
    '/twice': [{ service: 'payment', effect: { key: 'k' }, undo: null, furtherKeys: ['k2'] }],
    '/undone': [{ service: 'payment', effect: { key: 'k' }, undo: { key: 'u' } }],
    '/wrong': { effects: 1 },
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(JSON.stringify(answer ?? {}));
  });
  let address = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it.each([
    ['none', 0, 0],
    ['other', 0, 0],
    ['once', 1, 1],
    ['twice', 2, 2],
    ['undone', 1, 0],
  ])('counts the effects of the order %s', async (orderId, done, left) => {
    expect(await createLedgerCounter(address, 'payment').of(orderId)).toEqual({ done, left });
  });

  it('says what it cannot read', async () => {
    const ledger = createLedgerCounter(address, 'payment');
    await expect(ledger.of('wrong')).rejects.toThrow(/answers no ledger/);
    await expect(ledger.of('missing')).rejects.toThrow(/answered 404/);
  });
});

describe('the report', () => {
  const [first, second] = allChecks;
  if (first === undefined || second === undefined) throw new Error('There are no checks.');
  const results = [
    { check: first, finding: passed('it did') },
    { check: second, finding: failed('a very long story of what was seen instead') },
  ];

  it('fits the screen and tells in full what has failed', () => {
    const lines = drawReport(results, { width: 70, paint: withoutColour });
    expect(Math.max(...lines.slice(0, 3).map((line) => line.length))).toBeLessThanOrEqual(70);
    expect(lines.join('\n')).toContain('  seen  a very long story of what was seen instead');
    expect(lines.join('\n')).toContain(`  rule  ${second.rule}`);
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 not applicable.');
  });

  it('has an id of its own for every check', () => {
    expect(new Set(allChecks.map(({ id }) => id)).size).toBe(allChecks.length);
  });
});
