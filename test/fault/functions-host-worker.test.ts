import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHostProcess, writeApp, type HostProcess } from '../support/functions-host-process.js';

const app = {
  'package.json': { type: 'module', main: 'app.js' },
  'app.js': `
    import { app } from '@azure/functions';
    import * as df from 'durable-functions';
    let calls = 0;
    app.get('calls', () => ({ body: String((calls += 1)) }));
    df.app.activity('echo', { handler: (input) => input });
    df.app.activity('never', { handler: () => new Promise(() => undefined) });
    const waits = function* (context) { return yield context.df.waitForExternalEvent('go'); };
    df.app.orchestration('waits', waits);
    df.app.orchestration('one-activity', function* (context) {
      yield context.df.callActivity('echo', {});
      return yield* waits(context);
    });
    df.app.orchestration('one-timer', function* (context) {
      const timer = context.df.createTimer(new Date(context.df.currentUtcDateTime.getTime() + 3600000));
      yield context.df.Task.any([timer, context.df.waitForExternalEvent('go')]);
    });
    df.app.orchestration('parent', function* (context) {
      yield context.df.callSubOrchestrator('waits', {}, context.df.instanceId + '-child');
    });
    df.app.orchestration('hangs', function* (context) {
      try { yield context.df.callActivity('never', {}); } catch (error) { return error.message; }
    });`,
};

const support = join(import.meta.dirname, '..', 'support');

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess(writeApp(app));
});

beforeEach(() => host.setFaults());

const killAt = (entity: string, action: 'cutBeforeCommit' | 'cutAfterCommit' = 'cutBeforeCommit'): Promise<void> =>
  host.setFaults({ seed: 1, rules: [{ operation: 'worker', entity, action, times: 1 }] });
const untilItWaits = (instanceId: string) =>
  host.status(instanceId, ({ historyEvents = [] }) =>
    historyEvents.some(({ EventType: type }) =>
      /TimerCreated|TaskCompleted|SubOrchestrationInstanceCreated/.test(type),
    ),
  );
const advice = 'Was a change made to the orchestrator code after this instance had already started running?';

describe('a Node worker that dies', () => {
  it('fails the HTTP call that ran in it, and the next worker begins with empty memory', async () => {
    expect((await host.request('GET', 'api/calls')).text).toBe('1');
    expect((await host.request('GET', 'api/calls')).text).toBe('2');
    await killAt('calls', 'cutAfterCommit');
    expect((await host.request('GET', 'api/calls')).status).toBe(500);
    await host.line(/Worker process started and initialized/);
    expect((await host.request('GET', 'api/calls')).text).toBe('1');
  });

  it.each([
    [
      'one-activity',
      `an activity task with sequence ID 0 and name 'echo' (version ''), but the current replay execution hasn't (yet?) scheduled this task. ${advice}`,
    ],
    [
      'one-timer',
      `a timer task with sequence number 0 but the current replay execution hasn't (yet?) scheduled this task. ${advice}`,
    ],
    [
      'parent',
      `a sub-orchestration task with sequence ID 0 and name 'waits' (version '', instance ID 'late-parent-child'), but the current replay execution hasn't (yet?) scheduled this task. ${advice}`,
    ],
  ])('fails for good an instance whose turn was open and that had scheduled something: %s', async (name, task) => {
    const instanceId = `late-${name}`;
    await host.start(name, instanceId);
    await untilItWaits(instanceId);
    await killAt(name);
    const waiting = name === 'parent' ? `${instanceId}-child` : instanceId;
    await host.status(waiting, ({ runtimeStatus }) => runtimeStatus === 'Running');
    await host.raiseEvent(waiting, 'go', null);
    expect(await host.status(instanceId)).toMatchObject({
      runtimeStatus: 'Failed',
      output: `Non-Deterministic workflow detected: A previous execution of this orchestration scheduled ${task}`,
    });
  });

  it('fails for good an instance in its first turn', async () => {
    await killAt('waits');
    await host.start('waits', 'hit');
    expect(await host.status('hit')).toMatchObject({
      runtimeStatus: 'Failed',
      output: "Orchestrator function 'waits' failed: One or more errors occurred. (node exited with code 137 (0x89))",
    });
  });

  it('is missed by calls until the host has noticed its death; later calls wait for the next worker', async () => {
    const directory = writeApp({
      'package.json': { type: 'module', main: 'app.js' },
      'app.js': `
        import { app } from '@azure/functions';
        app.timer('hangs', { schedule: '0 0 0 1 1 *', handler: () => new Promise(() => undefined) });
        app.timer('returns', { schedule: '0 0 0 1 1 *', handler: () => undefined });`,
    });
    const flags = ['--no-warnings', '--import', join(support, 'register-typescript.ts')];
    const program = join(support, 'functions-host-worker-child.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, directory]);
    expect(JSON.parse(stdout)).toEqual({
      running: 'node exited with code 137 (0x89)',
      missed: 'Did not find any initialized language workers',
      afterwards: 'returned',
    });
  });

  it('fails the activities that ran in it', async () => {
    await host.start('hangs', 'interrupted');
    await host.line(/Executing 'Functions\.never'/);
    await killAt('calls');
    await host.request('GET', 'api/calls');
    expect((await host.status('interrupted')).output).toContain(
      "Activity function 'never' failed: node exited with code 137 (0x89)",
    );
  });

  it('is replaced as often as it dies, and instances that only waited go on', async () => {
    await host.start('waits', 'bystander');
    await host.status('bystander', ({ runtimeStatus }) => runtimeStatus === 'Running');
    const { 'worker.exits': before = 0 } = await host.counters();
    for (let death = 0; death < 3; death += 1) {
      await killAt('calls');
      expect((await host.request('GET', 'api/calls')).status).toBe(500);
    }
    await host.setFaults();
    await host.raiseEvent('bystander', 'go', 'on');
    expect(await host.status('bystander')).toMatchObject({ runtimeStatus: 'Completed', output: 'on' });
    expect(await host.counters()).toMatchObject({ 'worker.exits': before + 3 });
  });
});
