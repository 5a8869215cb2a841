/** What is left of the orders when they have ended: records, status messages, effects at the remotes, dead letters. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceBusClient } from '@azure/service-bus';
import { z } from 'zod';
import type { StatusMessage } from '../../client/index.js';
import { eachAtOnce } from '../each-at-once.js';
import { CommandError } from '../errors.js';
import type { OrderApi } from '../orders/order-api.js';
import type { OrderRecord } from '../orders/order-record.js';

const ledgerSchema = z.array(
  z.looseObject({
    service: z.string(),
    effect: z.looseObject({ key: z.string() }).nullable(),
    undo: z.looseObject({ key: z.string() }).nullable(),
    /** Keys of second effects, which must never happen. */
    furtherKeys: z.array(z.string()),
  }),
);

/** What the simulated remote services remember of an order: one entry a service. */
export type Ledger = Readonly<z.infer<typeof ledgerSchema>>;

/** What is known of one order. */
export interface OrderEvidence {
  readonly orderId: string;
  readonly record: OrderRecord | undefined;
  readonly statuses: readonly StatusMessage[];
  readonly ledger: Ledger;
}

/** A message in a dead-letter queue. */
export interface DeadLetter {
  readonly messageId: string;
  readonly reason: string;
  readonly description: string;
}

/** Where to look. */
export interface EvidenceSources {
  readonly api: Pick<OrderApi, 'find'>;
  readonly hostUrl: string;
  readonly statusesOf: (orderId: string) => readonly StatusMessage[];
}

const atOnce = 8;

/** Reads what is known of each order. */
export async function collectEvidence(
  orderIds: readonly string[],
  { api, hostUrl, statusesOf }: EvidenceSources,
): Promise<readonly OrderEvidence[]> {
  const found = new Map<string, OrderEvidence>();
  await eachAtOnce(orderIds, atOnce, async (orderId) => {
    const record = await api.find(orderId);
    const ledger = await readLedger(hostUrl, orderId);
    found.set(orderId, { orderId, record, statuses: statusesOf(orderId), ledger });
  });
  return orderIds.flatMap((orderId) => found.get(orderId) ?? []);
}

async function readLedger(hostUrl: string, orderId: string): Promise<Ledger> {
  const response = await fetch(`${hostUrl}/api/demo/ledger/${orderId}`);
  if (!response.ok) throw new CommandError(`The ledger of the simulated services answered ${response.status}.`);
  return ledgerSchema.parse(await response.json());
}

const deadLetterLimitMs = 10_000;
const pauseMs = 100;

/** The dead letters of a queue, as soon as there are `count`, or those there are after a while. */
export async function collectDeadLetters(
  client: ServiceBusClient,
  queue: string,
  count: number,
): Promise<readonly DeadLetter[]> {
  const receiver = client.createReceiver(`${queue}-dead-letter`);
  const found: DeadLetter[] = [];
  const giveUpAt = Date.now() + deadLetterLimitMs;
  while (found.length < count && Date.now() < giveUpAt) {
    for (const letter of await receiver.peekMessages(100)) {
      const { messageId, deadLetterReason: reason = '', deadLetterErrorDescription: description = '' } = letter;
      found.push({ messageId: String(messageId), reason, description });
    }
    if (found.length < count) await delay(pauseMs);
  }
  await receiver.close();
  return found;
}
