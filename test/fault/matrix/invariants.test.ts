/** The checker of the matrix, checked: each invariant is broken on purpose, behind the back of the system, and must be found. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../functions/demo/ledger.js';
import type { StateRecord } from '../../../functions/state/state-record.js';
import { sendTo } from '../../support/matrix-agent.js';
import { violations } from '../../support/matrix-invariants.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { findScenario, play } from './scenario.js';

/** Nothing more comes: the checker need not wait for it as long as in a cell. */
const patienceMs = 1_500;

/** No deadline passes while a busy machine brings the orders to their end. */
const settings = { STEP_DEADLINE_MS: '30000', CLAIM_LEASE_MS: '30000' };

describe('the checker of the invariants', () => {
  let world: MatrixWorld;
  let deadLetters = 0;

  beforeAll(async () => {
    world = await startMatrixWorld({ settings });
  });
  afterAll(() => world.close());

  /** What the checker says of one order. */
  function found(orderId: string, sent: unknown = matrixOrder(orderId)): Promise<readonly string[]> {
    return violations(world, new Map([[orderId, sent]]), deadLetters, patienceMs);
  }

  /** An order that has come to its end, and about which there is nothing to say. */
  async function ended(orderId: string, scenario = 'processed'): Promise<void> {
    await play(world, findScenario(scenario), orderId);
    expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]), deadLetters)).toEqual([]);
  }

  async function changeRecord(orderId: string, fields: Partial<StateRecord>): Promise<void> {
    const record = await world.record(orderId);
    await world.records.item(orderId, orderId).replace({ ...record, ...fields });
  }

  async function changeLedger(orderId: string, service: string, fields: Partial<LedgerEntry>): Promise<void> {
    const item = world.ledger.item(`${orderId}.${service}`, orderId);
    const { resource } = await item.read<LedgerEntry>();
    await item.replace({ ...resource, ...fields });
  }

  it('finds an order that was lost (X1)', async () => {
    const problems = await found('never-arrived');
    expect(problems).toContain('never-arrived: X1 the order is not in the orders database');
    expect(problems).toContain('never-arrived: X1 there is no state record');
  });

  it('finds a valid message in a dead-letter queue (X1)', async () => {
    await ended('in-a-dead-letter-queue');
    await sendTo(world.bus, 'orders-dead-letter', matrixOrder('in-a-dead-letter-queue'), 'a-copy');
    expect(await found('in-a-dead-letter-queue')).toEqual([
      `X1 ${deadLetters + 1} dead letters, expected ${deadLetters}`,
    ]);
    deadLetters += 1;
  });

  it('finds a record that is stuck (X2)', async () => {
    await ended('stuck');
    const completeBy = '2099-01-01T00:00:00.000Z';
    await changeRecord('stuck', { processState: 'Processing', lockedBy: 'stuck.1', completeBy });
    expect((await found('stuck'))[0]).toMatch(/^stuck: X2 stuck in Processing/);
  });

  it('finds a message that nobody takes (X2)', async () => {
    await ended('noisy');
    await world.setFault('service-bus', {
      seed: 1,
      rules: [{ operation: 'settle', entity: 'payment-replies', action: 'pause' }],
    });
    await sendTo(world.bus, 'payment-replies', 'no reply', 'noise');
    expect(await found('noisy')).toContain('X2 not quiet: messages in payment-replies');
    await world.setFault('service-bus');
    deadLetters += 1;
    await eventually('the message to be set aside', async () => (await found('noisy')).length === 0);
  });

  it('finds a second effect, and a call beyond the budget (X3)', async () => {
    await ended('twice');
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'twice.again', 'fencing-token': '1' };
    const body = JSON.stringify({ orderId: 'twice', amountMinor: 1, currency: 'EUR', paymentToken: 'tok' });
    for (let call = 0; call < 20; call += 1) {
      await fetch(`${world.remote.url}/payment/charges`, { method: 'POST', headers, body });
    }
    const problems = (await found('twice')).join('\n');
    expect(problems).toContain('X3 payment/charges was called with 2 keys: twice.payment, twice.again');
    expect(problems).toContain('X3 a second effect of payment was asked for, with key twice.again');
    expect(problems).toMatch(/X3 \d+ calls, but only \d+ of the budget are spent/);
  });

  it('finds an effect that came after its undo (X3)', async () => {
    await ended('after-undo', 'carrier refuses');
    const effect = { key: 'after-undo.payment', reference: 'late', token: 99 };
    await changeLedger('after-undo', 'payment', { effect });
    expect(await found('after-undo')).toEqual(['after-undo: X3 the effect of payment is younger than its undo']);
  });

  it.each([
    [
      'a second end',
      3,
      'OrderFailed',
      ['X4 2 terminal statuses for 1 endings', 'X4 Processed, but the last status is OrderFailed'],
    ],
    [
      'another beginning',
      0,
      'OrderRejected',
      ['X4 the first status is OrderRejected', 'X4 2 terminal statuses for 1 endings'],
    ],
  ] as const)('finds %s among the statuses (X4)', async (_what, seq, status, expected) => {
    const orderId = `told-${seq}`;
    await ended(orderId);
    const { length } = world.statuses(orderId);
    const body = { schemaVersion: 1, orderId, seq, status, at: '2026-01-01T00:00:00.000Z' };
    await sendTo(world.bus, 'status-web-shop', body, `${orderId}.planted`);
    await eventually('the status', () => world.statuses(orderId).length > length);
    expect(await found(orderId)).toEqual(expected.map((problem) => `${orderId}: ${problem}`));
  });

  it('finds an end that the application was not told of (X4)', async () => {
    await ended('untold');
    const deaf = { ...world, statuses: () => world.statuses('untold').slice(0, 1) };
    const problems = await violations(deaf, new Map([['untold', matrixOrder('untold')]]), deadLetters, patienceMs);
    expect(problems).toContain('untold: X4 0 terminal statuses for 1 endings');
  });

  it.each([
    ['an effect that is gone', 'processed', { effect: null }, 'X5 Processed, but payment has no effect in force'],
    [
      'an effect that should be undone',
      'carrier refuses',
      { undo: null },
      'X5 Compensated, but payment has an effect in force although its undo is Done',
    ],
  ] as const)('finds %s (X5)', async (_what, scenario, planted, expected) => {
    const orderId = `ledger-of-${scenario.replace(' ', '-')}`;
    await ended(orderId, scenario);
    await changeLedger(orderId, 'payment', planted);
    expect(await found(orderId)).toEqual([`${orderId}: ${expected}`]);
  });

  it('finds an order that is stored otherwise than it was sent (X5)', async () => {
    await ended('changed');
    const other = { ...(matrixOrder('changed') as object), paymentToken: 'tok_other' };
    expect(await found('changed', other)).toEqual(['changed: X5 the stored order differs in paymentToken']);
  });
});
