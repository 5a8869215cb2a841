import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEndpoints } from '../../cli/endpoints.js';
import type { Endpoints } from '../../cli/endpoints.js';
import { exampleOrder } from '../../cli/orders/example-order.js';
import { startStack } from '../../local/stack.js';
import type { Stack } from '../../local/stack.js';
import { callCli } from '../support/cli-run.js';
import type { CliRun } from '../support/cli-run.js';

let stack: Stack;
let endpoints: Endpoints;

beforeAll(async () => {
  stack = await startStack();
  const { hostKey, ...rest } = stack;
  const file = { ...rest, ...(hostKey === undefined ? {} : { hostKey }), pid: process.pid };
  endpoints = findEndpoints({ environment: {}, findStack: () => file });
});

afterAll(async () => {
  await stack.stop();
});

function cli(...args: string[]): Promise<CliRun> {
  return callCli(args, endpoints);
}

async function deadLettersOf(queue: string): Promise<readonly Record<string, unknown>[]> {
  const { output } = await cli('dead-letters', queue, '--json');
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Sends past the client, as an application with a mistake of its own does. */
async function sendRaw(messageId: string, body: unknown): Promise<void> {
  const client = endpoints.serviceBus();
  await client.createSender('orders').sendMessages({ messageId, body, applicationProperties: { shop: 7 } });
  await client.close();
}

describe('the command line on a running stack', () => {
  it('sends an order, waits for its end and shows it', async () => {
    const sent = await cli('send', '--order-id', 'one', '--priority', 'high', '--wait');
    expect(sent).toMatchObject({ exitCode: 0, errors: '' });
    expect(sent.output).toMatch(/^one sent \(MessageId one\.[\da-f]{12}\)\none OrderCompleted\n$/);
    const shown = await cli('show', 'one');
    expect(shown.output).toMatch(/^one {2}Processed\n.*web-shop, priority high/);
    expect(shown.output).toMatch(/spent \d+ of \d+ calls/);
  });

  it('ends with an exit code of its own when an order fails, and an operator can have it undone', async () => {
    const sent = await cli('send', '--order-id', 'closed', '--payment-token', 'tok_closed_account', '--wait');
    expect(sent).toMatchObject({ exitCode: 1, errors: '' });
    expect(sent.output).toContain('closed OrderFailed (Failed: ');
    expect(await cli('compensate', 'closed', '--reason', 'the customer asked')).toMatchObject({ exitCode: 0 });
    const watched = await cli('watch', 'closed');
    expect(watched.output).toMatch(/operator: compensate: the customer asked[\s\S]*Compensated/);
    expect(await cli('resubmit', 'closed', '--reason', 'x')).toMatchObject({ exitCode: 1, output: '' });
  });

  it('sends many orders and an order from a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'cli-'));
    try {
      const path = join(directory, 'order.json');
      writeFileSync(path, JSON.stringify({ ...exampleOrder('from-file'), application: 'mobile-app' }));
      expect((await cli('send', '--file', path, '--wait')).output).toContain('from-file OrderCompleted');
      writeFileSync(path, JSON.stringify({ ...exampleOrder('bad'), currency: 'euro' }));
      expect((await cli('send', '--file', path)).errors).toMatch(/was not sent \(InvalidOrder\): currency/);
    } finally {
      await rm(directory, { recursive: true });
    }
    const many = await cli('send', '--order-id', 'many', '--count', '25', '--wait');
    expect(many).toEqual({ exitCode: 0, output: '25 orders sent\n25 of 25 orders completed\n', errors: '' });
  });

  it('watches orders without taking their statuses from the application', async () => {
    await cli('send', '--order-id', 'watched');
    const interrupt = new AbortController();
    const first = await callCli(['watch', 'watched'], endpoints, interrupt.signal);
    expect(first.output).toContain('all steps completed');
    const second = await callCli(['watch', 'watched'], endpoints, interrupt.signal);
    expect(second.output).toContain('status OrderReceived');
  });

  it('shows dead letters and sends them back: once, unchanged and under an id of their own (D1, D2, D3)', async () => {
    expect((await cli('dead-letters', 'orders')).output).toBe('No dead letters of orders.\n');
    await sendRaw('wrong-1', { ...exampleOrder('wrong'), schemaVersion: 1, application: 'web-shop', currency: 'euro' });
    let letters: readonly Record<string, unknown>[] = [];
    while (letters.length === 0) letters = await deadLettersOf('orders');
    expect(letters).toMatchObject([{ messageId: 'wrong-1', deadLetterReason: 'InvalidOrder', sequenceNumber: '1' }]);
    expect((await cli('dead-letters', 'orders-dead-letter')).output).toMatch(/wrong-1 +InvalidOrder +currency: /);
    expect(await cli('dead-letters', 'orders', '--replay')).toMatchObject({ exitCode: 0, errors: '' });
    letters = [];
    while (letters.length === 0) letters = await deadLettersOf('orders');
    expect(letters).toMatchObject([{ messageId: 'wrong-1.replay-1', deadLetterReason: 'InvalidOrder' }]);
    const client = endpoints.serviceBus();
    const [letter] = await client.createReceiver('orders-dead-letter').peekMessages(1);
    expect(letter).toMatchObject({ body: { orderId: 'wrong', currency: 'euro' }, applicationProperties: { shop: 7 } });
    await client.close();
  });

  it('says which queues there are when it is asked for another', async () => {
    const { exitCode, errors } = await cli('dead-letters', 'order');
    expect(exitCode).toBe(1);
    expect(errors).toContain('infra/topology.json');
  });

  it.each([['dead-letters', 'orders'], ['watch', 'x'], ['send']])(
    'says what to check when the key is wrong: %s',
    async (...args) => {
      const wrong = stack.connectionString.replace(/SharedAccessKey=[^;]*/, 'SharedAccessKey=wrong');
      const file = { ...stack, connectionString: wrong };
      const { exitCode, errors } = await callCli(args, findEndpoints({ environment: {}, findStack: () => file }));
      expect(exitCode).toBe(1);
      expect(errors).toMatch(/refuses the access: .*invalid signature/);
      expect(errors).not.toMatch(/^ +at /m);
    },
  );

  it('sums up what it waited for when the time is over', async () => {
    const { exitCode, output, errors } = await cli(
      ...['send', '--order-id', 'hangs', '--count', '21', '--payment-token', 'tok_hang', '--wait', '--timeout', '1'],
    );
    expect({ exitCode, errors }).toEqual({ exitCode: 1, errors: '' });
    expect(output).toContain('0 of 21 orders completed, 21 had not ended yet');
    const one = await cli('send', '--order-id', 'hangs', '--payment-token', 'tok_hang', '--wait', '--timeout', '1');
    expect(one.output).toMatch(/hangs has not ended after 1 s; (no status came|its newest status is OrderReceived)\./);
  });

  it('counts all dead letters, also when it does not show all of them', async () => {
    const client = endpoints.serviceBus();
    const sender = client.createSender('shipping-replies-dead-letter');
    const letters = Array.from({ length: 1_050 }, (_, index) => ({ messageId: `letter-${index}`, body: {} }));
    for (let start = 0; start < letters.length; start += 350)
      await sender.sendMessages(letters.slice(start, start + 350));
    await client.close();
    expect((await cli('dead-letters', 'shipping-replies')).output).toContain(
      '1000 of 1050 are shown; --json shows all',
    );
    expect(await deadLettersOf('shipping-replies')).toHaveLength(1_050);
  });

  it('shows and replays what lies in the dead-letter queue of a status queue', async () => {
    const client = endpoints.serviceBus();
    await client.createSender('status-mobile-app').sendMessages({ messageId: 'status-1', body: { odd: true } });
    const receiver = client.createReceiver('status-mobile-app');
    const messages = await receiver.receiveMessages(20, { maxWaitTimeInMs: 2_000 });
    const odd = messages.find(({ messageId }) => messageId === 'status-1');
    if (odd === undefined) throw new Error('The status did not come.');
    await receiver.deadLetterMessage(odd, { deadLetterReason: 'InvalidStatus', deadLetterErrorDescription: 'odd' });
    await client.close();
    expect((await cli('dead-letters', 'status-mobile-app')).output).toMatch(/status-1 +InvalidStatus +odd/);
    expect((await cli('dead-letters', 'status-mobile-app', '--replay')).output).toContain(
      '1 of 1 dead letters sent back',
    );
    expect((await cli('dead-letters', 'status-mobile-app')).output).toBe('No dead letters of status-mobile-app.\n');
  });
});
