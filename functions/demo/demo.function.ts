import { setTimeout as delay } from 'node:timers/promises';
import { app } from '@azure/functions';
import type { HttpResponseInit } from '@azure/functions';
import { services } from '../services.js';
import { simulateRemote, simulatedServices } from './remote-simulation.js';
import type { SimulatedAnswer } from './remote-simulation.js';

/** A service that hangs keeps its connection this long. */
const hangMs = 120_000;

if (services().config.DEMO_REMOTES_ENABLED) registerDemoRemotes();

function registerDemoRemotes(): void {
  app.http('demo-remote', {
    methods: ['POST'],
    authLevel: 'anonymous',
    route: 'demo/{service}/{operation}',
    handler: async (request) => {
      const body: unknown = await request.json().catch(() => undefined);
      const { service, operation } = request.params;
      const key = request.headers.get('idempotency-key');
      const token = Number(request.headers.get('fencing-token'));
      const call = { service: service ?? '', operation: operation ?? '', key, token, body };
      return toResponse(await simulateRemote(call, services().ledger));
    },
  });

  app.http('demo-ledger', {
    methods: ['GET'],
    authLevel: 'anonymous',
    route: 'demo/ledger/{orderId}',
    handler: async (request) => {
      const orderId = request.params['orderId'] ?? '';
      const entries = await Promise.all(simulatedServices.map((service) => services().ledger.get(orderId, service)));
      return { jsonBody: entries.flatMap((found) => (found === undefined ? [] : [found.entry])) };
    },
  });
}

async function toResponse(answer: SimulatedAnswer): Promise<HttpResponseInit> {
  if (answer !== undefined) return { status: answer.status, jsonBody: answer.json };
  await delay(hangMs, undefined, { ref: false });
  return { status: 504 };
}
