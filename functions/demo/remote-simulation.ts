/** A simulated remote service: steered by magic values, with a ledger of its effects. */
import { z } from 'zod';
import { orderIdSchema } from '../contracts/identifiers.js';
import { recordEffect } from './ledger.js';
import type { LedgerAnswer, LedgerStore } from './ledger.js';
import { behaviourOf } from './magic-values.js';
import type { Behaviour } from './magic-values.js';

/** Services and their operations: what each does, and what undoes it. */
export const simulatedOperations: Readonly<Record<string, 'do' | 'undo'>> = {
  'payment/charges': 'do',
  'payment/refunds': 'undo',
  'inventory/reservations': 'do',
  'inventory/releases': 'undo',
  'shipping/shipments': 'do',
  'shipping/cancellations': 'undo',
  'invoice/invoices': 'do',
  'invoice/credit-notes': 'undo',
};

const callSchema = z.object({
  service: z.string(),
  operation: z.string(),
  key: z.string().min(1),
  token: z.int().min(1),
  body: z.looseObject({ orderId: orderIdSchema }),
});

/** A call as it comes over HTTP. */
export interface SimulatedCall {
  readonly service: string;
  readonly operation: string;
  readonly key: string | null;
  readonly token: number;
  readonly body: unknown;
}

/** An HTTP answer; `undefined` never answers, as a service that hangs. */
export type SimulatedAnswer = { readonly status: number; readonly json: Readonly<Record<string, string>> } | undefined;

/** Answers a call to a simulated remote service. */
export async function simulateRemote(call: SimulatedCall, store: LedgerStore): Promise<SimulatedAnswer> {
  const parsed = callSchema.safeParse(call);
  const operation = `${call.service}/${call.operation}`;
  const action = Object.hasOwn(simulatedOperations, operation) ? simulatedOperations[operation] : undefined;
  if (!parsed.success || action === undefined) return answer(400, 'BadRequest', 'not a call of this service');
  const { service, key, token, body } = parsed.data;
  const behaviour = action === 'undo' ? 'ok' : behaviourOf(service, body);
  const disturbance = disturb(behaviour, token);
  if (disturbance !== 'none') return disturbance;
  const verdict = behaviour === 'refuse' ? 'refuse' : action;
  return toAnswer(await recordEffect(store, { orderId: body.orderId, service, action: verdict, key, token }));
}

function disturb(behaviour: Behaviour, token: number): SimulatedAnswer | 'none' {
  const isFirstAttempt = token === 1;
  switch (behaviour) {
    case 'ok':
    case 'refuse':
      return 'none';
    case 'fail':
      return answer(400, 'Closed', 'the remote service cannot do this, now or later');
    case 'hang':
      return undefined;
    case 'hangOnce':
      return isFirstAttempt ? undefined : 'none';
    case 'unavailableOnce':
      return isFirstAttempt ? answer(503, 'Unavailable', 'try again') : 'none';
  }
}

function toAnswer(ledger: LedgerAnswer): SimulatedAnswer {
  switch (ledger.kind) {
    case 'done':
      return { status: 200, json: { reference: ledger.reference } };
    case 'staleToken':
      return answer(409, 'StaleToken', 'a newer attempt has been here');
    case 'undone':
      return answer(422, 'Undone', 'this was undone before it was done');
    case 'refused':
      return answer(422, 'Declined', 'declined by the remote service');
  }
}

function answer(status: number, code: string, message: string): SimulatedAnswer {
  return { status, json: { code, message } };
}

/** Names of the simulated services. */
export const simulatedServices: readonly string[] = ['payment', 'inventory', 'shipping', 'invoice'];
