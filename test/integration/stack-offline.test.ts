import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectProcessed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const refusal = 'refused by this test:';

/** Runs first in every process of the stack: connections to anything but this machine fail, and are told. */
const guard = `
  import { Socket } from 'node:net';
  const connect = Socket.prototype.connect;
  Socket.prototype.connect = function (...args) {
    const { host = 'localhost' } = [args[0]].flat()[0] ?? {};
    if (['localhost', '127.0.0.1', '::1'].includes(host)) return connect.apply(this, args);
    console.error('${refusal} ' + host);
    throw new Error('${refusal} ' + host);
  };
`;

describe('the local stack without a network', () => {
  let app: App;
  beforeAll(async () => {
    vi.stubEnv('NODE_OPTIONS', `--import "data:text/javascript,${encodeURIComponent(guard)}"`);
    app = await startApp();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await app.stop();
  });

  it('starts and brings an order to its end: nothing is fetched from elsewhere (C72)', async () => {
    await submit(app, 'offline');
    await expectProcessed(app, 'offline');
    expect(app.log.lines.filter((line) => line.includes(refusal))).toEqual([]);
  });
});
