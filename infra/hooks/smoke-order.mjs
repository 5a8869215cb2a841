// Sends one order as an application would and waits for its end: `node infra/hooks/smoke-order.mjs`, or called by postdeploy.
// In Azure as the user who is signed in to azd; with ServiceBusConnection set, against that broker.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AzureCliCredential, AzureDeveloperCliCredential, ChainedTokenCredential } from '@azure/identity';
import { ServiceBusClient } from '@azure/service-bus';
import { HookError, environmentValue, runHook, secondsSetting } from './azd.mjs';

const root = resolve(import.meta.dirname, '..', '..');

/** Sends the order, prints what becomes of it, throws if it does not complete. */
export async function smokeOrder() {
  const { createOrderClient } = await import(pathToFileURL(resolve(root, 'dist', 'client', 'index.js')).href);
  const seconds = secondsSetting('SMOKE_ORDER_SECONDS', 300);
  const serviceBus = connect();
  const client = createOrderClient({
    serviceBus,
    application: environmentValue('SMOKE_APPLICATION'),
    submitTimeoutMs: seconds * 1000,
  });
  const order = sampleOrder();
  try {
    console.log(`Sending the smoke order ${order.orderId}.`);
    await client.submitOrder(order);
    const end = await client.waitForStatus(order.orderId, { timeoutMs: seconds * 1000 });
    const reason = end.reason === undefined ? '' : ` (${end.reason.code}: ${end.reason.message})`;
    console.log(`Smoke order ${order.orderId}: ${end.status}${reason}.`);
    if (end.status !== 'OrderCompleted') throw new HookError('The smoke order did not complete.');
  } catch (error) {
    throw error instanceof HookError ? error : explained(error, order.orderId);
  } finally {
    await client.close();
    await serviceBus.close();
  }
}

function connect() {
  const { ServiceBusConnection: connection } = process.env;
  if (connection) return new ServiceBusClient(connection);
  const credential = new ChainedTokenCredential(new AzureDeveloperCliCredential(), new AzureCliCredential());
  return new ServiceBusClient(environmentValue('SERVICE_BUS_NAMESPACE'), credential);
}

function sampleOrder() {
  const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return {
    orderId: `smoke-${time}`,
    customerId: 'smoke-test',
    currency: 'EUR',
    lines: [{ sku: 'SMOKE', quantity: 1, unitPriceMinor: 100 }],
    shippingAddress: { name: 'Smoke Test', line1: 'Main Street 1', city: 'Berlin', postalCode: '10115', country: 'DE' },
    paymentToken: 'tok_ok',
  };
}

function explained(error, orderId) {
  const text = error instanceof Error ? error.message : String(error);
  return new HookError(
    `Smoke order ${orderId}: ${text}\n` +
      'If this says Unauthorized, your own rights are a few minutes old at most: run "azd hooks run postdeploy" again. ' +
      'If no status came, look at the traces of the function submit, then of starter and supervisor.',
  );
}

const isRunDirectly = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isRunDirectly) await runHook(smokeOrder);
