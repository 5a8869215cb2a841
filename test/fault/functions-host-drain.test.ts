import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { cleanUp, startHostProcess, temporaryDirectory, writeApp } from '../support/functions-host-process.js';

const part = join(import.meta.dirname, '../../dist/local/part.js');

/** Starts the host as the stack does, without a stack, and gives its address. */
async function startPart(options: object) {
  const child = spawn(process.execPath, [part, 'functions-host', JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) return { child, url: (JSON.parse(line) as { url: string }).url };
  }
  throw new Error('The host ended before it was ready.');
}

it('on SIGTERM the host waits for the activity that runs and keeps its result', async () => {
  const app = writeApp({
    'package.json': { type: 'module', main: 'app.js' },
    'app.js': `
      import { appendFileSync } from 'node:fs';
      import * as df from 'durable-functions';
      const note = (text) => appendFileSync(new URL('notes', import.meta.url), text);
      df.app.activity('takes-time', { handler: async () => {
        note('begin ');
        await new Promise((resolve) => setTimeout(resolve, 700));
        note('end ');
        return 'done';
      } });
      df.app.orchestration('patient', function* (context) { return yield context.df.callActivity('takes-time', {}); });`,
    notes: '',
  });
  const notes = (): string => readFileSync(join(app, 'notes'), 'utf8');
  const options = { appDirectory: app, dataDirectory: temporaryDirectory(), fsync: 'never', settings: {} } as const;
  const { child, url } = await startPart(options);
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/durabletask/orchestrators/patient/one`, { method: 'POST', headers, body: '{}' });
  await expect.poll(notes, { interval: 10 }).toBe('begin ');
  child.kill('SIGTERM');
  expect((await once(child, 'exit')) as unknown[]).toEqual([0, null]);
  const next = await startHostProcess(app, { dataDirectory: options.dataDirectory });
  expect(await next.status('one')).toMatchObject({ runtimeStatus: 'Completed', output: 'done' });
  expect(notes()).toBe('begin end ');
});
