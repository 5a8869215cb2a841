/** What must hold for every write to the state store: I3 to I5, A2, RC1, RC3, the budget and the outbox. */
import { expect } from 'vitest';
import { hasBegun } from '../../functions/state/own-requests.js';
import { isTerminal, stateRecordSchema } from '../../functions/state/state-record.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import type { OrderWorld } from './order-world.js';

/** Checks every write to the state store, and counts the endings of each order. */
export function watchWrites(world: OrderWorld): { readonly endings: Map<string, number> } {
  const endings = new Map<string, number>();
  const usedInstanceIds = new Set<string>();
  const put = world.database.put.bind(world.database);
  world.database.put = (document) => {
    const before = world.database.documents.get(document.id)?.document as StateRecord | undefined;
    const after = stateRecordSchema.parse(document);
    checkWrite(before, after);
    if (after.lockedBy !== null && after.lockedBy !== before?.lockedBy) {
      expect(usedInstanceIds.has(after.lockedBy), `I3: ${after.lockedBy} is used twice`).toBe(false);
      usedInstanceIds.add(after.lockedBy);
    }
    const hasEnded = isTerminal(after) && before?.processState !== after.processState;
    if (hasEnded) endings.set(after.orderId, (endings.get(after.orderId) ?? 0) + 1);
    put(document);
  };
  return { endings };
}

function checkWrite(before: StateRecord | undefined, after: StateRecord): void {
  checkOwner(before, after);
  checkCounts(after);
  if (before === undefined) return;
  const isByOperator = after.history.at(-1)?.actor === 'operator';
  const leavesTerminal = isTerminal(before) && after.processState !== before.processState;
  if (leavesTerminal) expect(isByOperator, 'I4').toBe(true);
  if (!isByOperator) checkFailures(before, after);
}

const sumOf = (parts: readonly { readonly failureCount: number }[]): number =>
  parts.reduce((sum, { failureCount }) => sum + failureCount, 0);

/** RC1, RC3: a failure belongs to a step, or an undo, that the attempt has dispatched. */
function checkFailures(before: StateRecord, after: StateRecord): void {
  const forward = after.failureCount - before.failureCount;
  const undo = after.compensationFailureCount - before.compensationFailureCount;
  expect([0, 1], 'one failure at a time').toContain(forward + undo);
  expect(sumOf(after.steps) - sumOf(before.steps), 'RC3').toBe(forward);
  expect(sumOf(after.compensation) - sumOf(before.compensation), 'RC3').toBe(undo);
  if (forward + undo > 0) expect(hasBegun(before), 'RC1: a failure without a dispatch').toBe(true);
  const isExhausted = /AttemptsExhausted$/.test(after.error?.code ?? '') && after.error !== before.error;
  if (isExhausted && isTerminal(after)) expect(hasBegun(before), 'RC1: exhausted without a dispatch').toBe(true);
}

function checkOwner(before: StateRecord | undefined, after: StateRecord): void {
  const isClaim = after.lockedBy !== null && after.lockedBy !== before?.lockedBy;
  expect(after.attempt, 'I3').toBe((before?.attempt ?? 0) + (isClaim ? 1 : 0));
  if (isClaim) expect(after.completeBy, 'I5').not.toBeNull();
  const waitsToBegin = after.lockedBy !== null && !isTerminal(after) && !hasBegun(after);
  expect(after.notBegunSince !== null, 'notBegunSince follows from the record').toBe(waitsToBegin);
}

function checkCounts(record: StateRecord): void {
  const { budget, outbox, outboxSeq, compensation, steps } = record;
  expect(budget.spent, 'budget').toBeLessThanOrEqual(budget.allowed);
  expect(budget.spent, 'budget').toBeGreaterThanOrEqual(0);
  const intents = compensation.map(({ stepId }) => stepId);
  const begun = steps.filter(({ requestId }) => requestId !== null).map(({ id }) => id);
  expect(intents, 'A2').toEqual(expect.arrayContaining(begun));
  expect(Math.max(0, ...outbox.map(({ seq }) => seq)), 'outbox').toBeLessThanOrEqual(outboxSeq);
}
