import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { connectAmqp } from '../support/service-bus-amqp-client.js';
import { createClient, temporaryDirectory, topologyOf } from '../support/service-bus-broker.js';
import { startBrokerProcess, type BrokerProcess } from '../support/service-bus-process.js';

const megabyte = 1024 * 1024;

async function startProcess(): Promise<BrokerProcess> {
  return startBrokerProcess(await temporaryDirectory(), topologyOf({ name: 'orders' }));
}

/** The most memory a process has ever had. */
async function peakBytes({ pid }: BrokerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

test('a message that never ends is counted, not kept', async () => {
  const broker = await startProcess();
  const { connection, authorize } = await connectAmqp(broker);
  await authorize('orders');
  const sender = connection.open_sender('orders');
  await once(sender, 'sendable');
  const before = await peakBytes(broker);
  sender.send(Buffer.alloc(120 * megabyte), undefined, 0);
  await once(sender, 'rejected');
  expect((await peakBytes(broker)) - before).toBeLessThan(96 * megabyte);
});

test('memory stays flat under traffic', { timeout: 120_000 }, async () => {
  const broker = await startProcess();
  const client = createClient(broker.connectionString);
  const sender = client.createSender('orders');
  const receiver = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  const pass = async (total: number): Promise<void> => {
    const batch = Array.from({ length: 100 }, () => ({ body: Buffer.alloc(2_000) }));
    for (let passed = 0; passed < total;) {
      await sender.sendMessages(batch);
      for (let received = 0; received < batch.length;) {
        received += (await receiver.receiveMessages(batch.length - received, { maxWaitTimeInMs: 3000 })).length;
      }
      passed += batch.length;
    }
  };
  await pass(10_000);
  const before = await peakBytes(broker);
  await pass(60_000); // 120 MB of bodies
  expect((await peakBytes(broker)) - before).toBeLessThan(100 * megabyte);
});
