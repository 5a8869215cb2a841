/** What must hold of an order at its end, whatever happened on the way. */
import { expect } from 'vitest';
import { idempotencyKey, undoIdempotencyKey } from '../../functions/contracts/identifiers.js';
import type { StatusMessage, StatusReason } from '../../functions/contracts/status-message.js';
import type { ProcessState, StateRecord } from '../../functions/state/state-record.js';
import type { Patience } from './app-eventually.js';
import { untilState, untilStatuses } from './app-orders.js';
import type { App } from './app-stack.js';
import { firstKey } from './idempotency-keys.js';

const workflowSteps: readonly string[] = ['payment', 'inventory', 'shipping'];

/** Expects that the order is processed: every step had one effect, under one key, and the application was told once. */
export async function expectProcessed(
  app: App,
  orderId: string,
  { patience, steps = workflowSteps }: { readonly patience?: Patience; readonly steps?: readonly string[] } = {},
): Promise<StateRecord> {
  const record = await untilState(app, orderId, 'Processed', patience);
  expect(record.steps.map(({ id, state }) => `${id} ${state}`)).toEqual(steps.map((step) => `${step} Completed`));
  expectOneEffectEach(app, orderId, steps);
  await untilStatuses(app, orderId, ['OrderReceived', 'OrderCompleted'], patience);
  return record;
}

/** Expects that the order ended without success and the application was told why, once. */
export async function expectFailed(
  app: App,
  orderId: string,
  end: {
    readonly as: ProcessState;
    readonly reason: StatusReason['code'];
    /** Steps whose effects are left. */
    readonly effectsLeft?: readonly string[];
    readonly patience?: Patience;
  },
): Promise<StateRecord> {
  const record = await untilState(app, orderId, end.as, end.patience);
  expectOneEffectEach(app, orderId, end.effectsLeft ?? []);
  const statuses = await untilStatuses(app, orderId, ['OrderReceived', 'OrderFailed'], end.patience);
  expect(reasonOf(statuses)).toBe(end.reason);
  return record;
}

/** Expects one effect for each of these steps, under whatever generation of its key, and none for others. */
export function expectOneEffectEach(app: App, orderId: string, steps: readonly string[]): void {
  const expected = Object.fromEntries(steps.map((step) => [idempotencyKey(orderId, step), 1]));
  const effects: Record<string, number> = {};
  for (const [key, count] of Object.entries(app.remote.effects(orderId))) {
    effects[firstKey(key)] = (effects[firstKey(key)] ?? 0) + count;
  }
  expect(effects).toEqual(expected);
  expectDerivedKeys(app, orderId);
}

/** Every call carried the step's own key, in every attempt the same. */
function expectDerivedKeys(app: App, orderId: string): void {
  for (const { service, key } of app.remote.calls(orderId)) {
    expect([idempotencyKey(orderId, service), undoIdempotencyKey(orderId, service)]).toContain(firstKey(key));
  }
}

function reasonOf(statuses: readonly StatusMessage[]): StatusReason['code'] | undefined {
  return statuses.at(-1)?.reason?.code;
}
