import { describe, expect, it } from 'vitest';
import { startHostProcess, writeApp } from '../support/functions-host-process.js';

describe('an app', () => {
  it('that blocks its event loop is reported, while the host goes on', async () => {
    const app = writeApp({
      'package.json': { type: 'module', main: 'app.js' },
      'app.js': `
        import { app } from '@azure/functions';
        const never = new Int32Array(new SharedArrayBuffer(4));
        app.get('block', () => { Atomics.wait(never, 0, 0, 7000); return { body: 'done' }; });`,
    });
    const host = await startHostProcess(app);
    const blocked = host.request('GET', 'api/block');
    expect(await host.line(/blocks the event loop/)).toContain('all functions of the app wait');
    expect((await host.request('GET', 'admin/host/status')).status).toBe(200);
    expect((await blocked).text).toBe('done');
  });

  it('that crashes loses what ran in its worker, and runs again in the next one', async () => {
    const app = writeApp({
      'package.json': { type: 'module', main: 'app.js' },
      'app.js': `
        import { existsSync, writeFileSync } from 'node:fs';
        import * as df from 'durable-functions';
        const marker = new URL('crashed', import.meta.url);
        df.app.activity('crash-once', { handler: () => new Promise((resolve) => {
          if (existsSync(marker)) return resolve('survived');
          writeFileSync(marker, '');
          setImmediate(() => { throw new Error('nobody catches this'); });
        }) });
        df.app.orchestration('crashes', function* (context) {
          try { yield context.df.callActivity('crash-once', {}); }
          catch (error) { return [error.message, yield context.df.callActivity('crash-once', {})]; }
        });`,
    });
    const host = await startHostProcess(app);
    await host.start('crashes', 'phoenix');
    expect((await host.status('phoenix')).output).toEqual([
      expect.stringContaining("Activity function 'crash-once' failed: node exited with code 1 (0x1)"),
      'survived',
    ]);
    expect(await host.line(/nobody catches this/)).toContain('fail: ');
  });

  it('that throws what is no Error fails as an activity with the text "undefined", as in Azure', async () => {
    const app = writeApp({
      'package.json': { type: 'module', main: 'app.js' },
      'app.js': `
        import * as df from 'durable-functions';
        df.app.activity('odd', { handler: () => { throw 'a string'; } });
        df.app.orchestration('runs-odd', function* (context) {
          try { yield context.df.callActivity('odd', {}); } catch (error) { return error.message; }
        });`,
    });
    const host = await startHostProcess(app);
    await host.start('runs-odd', 'odd');
    expect((await host.status('odd')).output).toContain("Activity function 'odd' failed: undefined");
  });
});
