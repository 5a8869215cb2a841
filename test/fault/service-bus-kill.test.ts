import type { ServiceBusClient } from '@azure/service-bus';
import { expect, test } from 'vitest';
import { createClient, temporaryDirectory, topologyOf, until } from '../support/service-bus-broker.js';
import { startBrokerProcess } from '../support/service-bus-process.js';

const topology = topologyOf({ name: 'orders', lockDuration: 'PT5M', maxDeliveryCount: 100 });

/** What the clients of a round know for sure, and what they only tried. */
interface Knowledge {
  readonly accepted: Set<string>;
  readonly received: Map<string, number>;
  readonly completed: Set<string>;
  readonly tried: Set<string>;
}

/** Sends and completes until the broker is gone; every answer of the broker is noted. */
function drive(client: ServiceBusClient, round: number, known: Knowledge): void {
  const sender = client.createSender('orders');
  const send = async (lane: number): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const messageId = `${round}.${lane}.${index}`;
      await sender.sendMessages([{ body: 'x'.repeat(200), messageId }]);
      known.accepted.add(messageId);
    }
  };
  for (let lane = 0; lane < 8; lane += 1) send(lane).catch(() => undefined);
  const receiver = client.createReceiver('orders', { maxAutoLockRenewalDurationInMs: 0 });
  receiver.subscribe(
    {
      processMessage: async (message) => {
        const messageId = String(message.messageId);
        known.received.set(messageId, message.deliveryCount ?? 0);
        if (known.received.size % 3 === 0) return; // Left locked: it must come back with its delivery counted.
        known.tried.add(messageId);
        await receiver.completeMessage(message);
        known.completed.add(messageId);
      },
      processError: () => Promise.resolve(),
    },
    { autoCompleteMessages: false, maxConcurrentCalls: 8 },
  );
}

async function remaining(client: ServiceBusClient): Promise<Map<string, number>[]> {
  const receiver = client.createReceiver('orders');
  const found: Map<string, number>[] = [];
  for (let more = await receiver.peekMessages(250); more.length > 0; more = await receiver.peekMessages(250)) {
    for (const { messageId, deliveryCount } of more) found.push(new Map([[String(messageId), deliveryCount ?? 0]]));
  }
  return found;
}

test.each(['never', 'always'] as const)(
  'killed again and again under traffic, the broker loses no accepted message and repeats no completed one (fsync %s)',
  { timeout: 120_000 },
  async (fsync) => {
    const directory = await temporaryDirectory();
    const known: Knowledge = { accepted: new Set(), received: new Map(), completed: new Set(), tried: new Set() };
    for (const [round, limit] of [1, 40, 300, 500].entries()) {
      const broker = await startBrokerProcess(directory, topology, fsync);
      const before = known.accepted.size;
      drive(createClient(broker.connectionString, { timeoutInMs: 300 }), round, known);
      await until(() => known.accepted.size >= before + limit);
      await broker.kill();
    }
    const broker = await startBrokerProcess(directory, topology, fsync);
    const left = await remaining(createClient(broker.connectionString));
    const ids = left.flatMap((entry) => [...entry.keys()]);
    expect(new Set(ids).size).toBe(ids.length);
    const missing = [...known.accepted].filter((id) => !ids.includes(id) && !known.tried.has(id));
    expect(missing).toEqual([]);
    expect(ids.filter((id) => known.completed.has(id))).toEqual([]);
    const counts = new Map(left.flatMap((entry) => [...entry]));
    const uncounted = [...known.received].filter(([id, count]) => counts.has(id) && (counts.get(id) ?? 0) <= count);
    expect(uncounted).toEqual([]); // Q3
    expect(known.completed.size).toBeGreaterThan(100);
  },
);
