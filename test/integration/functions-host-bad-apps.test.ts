import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startHostProcess, temporaryDirectory, writeApp } from '../support/functions-host-process.js';

const support = join(import.meta.dirname, '..', 'support');

describe('an app', () => {
  it('that blocks the event loop is told so', async () => {
    const flags = ['--no-warnings', '--import', join(support, 'register-typescript.ts')];
    const program = join(support, 'functions-host-blocked.ts');
    const { stderr } = await promisify(execFile)(process.execPath, [...flags, program]);
    expect(stderr).toContain('blocks the event loop');
  });

  it('that crashes its host loses nothing: the next host finishes what was accepted', async () => {
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
          return yield context.df.callActivity('crash-once', {});
        });`,
    });
    const dataDirectory = temporaryDirectory();
    const first = await startHostProcess(app, { dataDirectory });
    expect((await first.start('crashes', 'phoenix')).status).toBe(202);
    await first.exited;
    const second = await startHostProcess(app, { dataDirectory });
    expect((await second.status('phoenix')).output).toBe('survived');
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
