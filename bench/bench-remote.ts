/** Remote services in the bench's own process: they outlive the host, count every call, and take as long as they are told. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Running remote services. */
export interface BenchRemote {
  /** The settings that point the agents at them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Calls for each idempotency key. */
  readonly calls: ReadonlyMap<string, number>;
  /** How long each call takes from now on; `undefined`: calls are not answered at all. */
  takes(ms: number | undefined): void;
  close(): Promise<void>;
}

const services = {
  PAYMENT_URL: 'payment',
  INVENTORY_URL: 'inventory',
  SHIPPING_URL: 'shipping',
  INVOICE_URL: 'invoice',
};

/** Starts them on a free port. */
export async function startBenchRemote(): Promise<BenchRemote> {
  const calls = new Map<string, number>();
  let callMs: number | undefined = 0;
  const server = createServer((request, response) => {
    void (async () => {
      request.resume();
      await once(request, 'end');
      const key = String(request.headers['idempotency-key']);
      calls.set(key, (calls.get(key) ?? 0) + 1);
      if (callMs === undefined) return;
      if (callMs > 0) await delay(callMs);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ reference: key }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const settings = Object.entries(services).map(([name, service]) => [name, `http://127.0.0.1:${port}/${service}`]);
  return {
    settings: Object.fromEntries(settings) as Record<string, string>,
    calls,
    takes: (ms) => {
      callMs = ms;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
