import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHostProcess, temporaryDirectory, type HostProcess } from '../support/functions-host-process.js';

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess('durable-app');
});

beforeEach(() => host.setFaults());

describe('a fault', () => {
  it('loses the answer to a start that was done: a second start finds the instance', async () => {
    await host.setFaults({ seed: 1, rules: [{ operation: 'startOrchestration', action: 'cutAfterCommit', times: 1 }] });
    await expect(host.start('custom-status', 'lost-answer')).rejects.toThrow();
    expect((await host.start('custom-status', 'lost-answer')).status).toBe(409);
  });

  it('cuts off a start before it is done: a second start is the first', async () => {
    await host.setFaults({
      seed: 1,
      rules: [{ operation: 'startOrchestration', action: 'cutBeforeCommit', times: 1 }],
    });
    await expect(host.start('custom-status', 'cut')).rejects.toThrow();
    expect((await host.start('custom-status', 'cut')).status).toBe(202);
  });

  it('refuses with the status it names', async () => {
    await host.setFaults({
      seed: 1,
      rules: [{ operation: 'raiseEvent', entity: 'go', action: 'refuse', error: '429', times: 1 }],
    });
    await host.start('custom-status', 'refused');
    expect((await host.raiseEvent('refused', 'go', null)).status).toBe(429);
    expect((await host.raiseEvent('refused', 'go', null)).status).toBe(202);
  });

  it('duplicates an event', async () => {
    await host.setFaults({ seed: 1, rules: [{ operation: 'raiseEvent', action: 'duplicate', times: 1 }] });
    await host.start('equal-waits', 'doubled');
    await host.raiseEvent('doubled', 'value', 1);
    expect((await host.status('doubled')).output).toEqual([1, 1]);
  });

  it('loses the result of an activity, which runs again', async () => {
    const rule = { operation: 'activity', entity: 'flaky', action: 'cutAfterCommit', times: 1 } as const;
    await host.setFaults({ seed: 1, rules: [rule] });
    await host.start('retries', 'lost-result', { failures: 0, attempts: 1 });
    expect((await host.status('lost-result')).output).toEqual({ after: { attempt: 2 } });
  });

  it('makes a turn repeat until it succeeds', async () => {
    await host.setFaults({
      seed: 1,
      rules: [{ operation: 'turn', entity: 'three-activities', action: 'refuse', times: 1 }],
    });
    await host.start('three-activities', 'repeated-turn');
    expect((await host.status('repeated-turn')).runtimeStatus).toBe('Completed');
    expect(await host.line(/'repeated-turn' \(three-activities\) could not run/)).toContain('next try in');
  });

  it('freezes orchestrations until it is lifted', async () => {
    await host.setFaults({ seed: 1, rules: [{ operation: 'turn', action: 'pause' }] });
    await host.start('three-activities', 'frozen');
    expect((await host.status('frozen', () => true)).runtimeStatus).toBe('Pending');
    await host.setFaults();
    expect((await host.status('frozen')).runtimeStatus).toBe('Completed');
    expect(await host.counters()).toMatchObject({ 'faults/turn/*/pause': 1 });
  });

  it('lets the start of an instance wait while other instances go on', async () => {
    const rule = { operation: 'firstTurn', entity: 'equal-waits', action: 'pause' } as const;
    await host.setFaults({ seed: 1, rules: [rule] });
    await host.start('equal-waits', 'late');
    await host.raiseEvent('late', 'value', 1);
    await host.raiseEvent('late', 'value', 1);
    await host.start('three-activities', 'on-time');
    expect((await host.status('on-time')).runtimeStatus).toBe('Completed');
    expect((await host.status('late', () => true)).runtimeStatus).toBe('Pending');
    await host.setFaults();
    expect((await host.status('late')).output).toEqual([1, 1]);
  });

  it('lets the start of an instance wait for the time it names, and a host that starts anew hold it again', async () => {
    const dataDirectory = temporaryDirectory();
    const rule = { operation: 'firstTurn', action: 'delay', delayMs: 300 } as const;
    const first = await startHostProcess('durable-app', { dataDirectory, faults: { seed: 1, rules: [rule] } });
    await first.start('three-activities', 'late');
    await first.kill();
    const second = await startHostProcess('durable-app', { dataDirectory, faults: { seed: 1, rules: [rule] } });
    expect((await second.status('late')).runtimeStatus).toBe('Completed');
    expect(await second.counters()).toMatchObject({ 'faults/firstTurn/*/delay': 1 });
  });

  it('that freezes a turn lets it take what arrives meanwhile', async () => {
    await host.start('equal-waits', 'thawed');
    await host.status('thawed', ({ runtimeStatus }) => runtimeStatus === 'Running');
    await host.setFaults({ seed: 1, rules: [{ operation: 'turn', action: 'pause', times: 1 }] });
    const { 'orchestrator.turns': before = 0 } = await host.counters();
    await host.raiseEvent('thawed', 'value', 1);
    await host.raiseEvent('thawed', 'value', 1);
    await host.setFaults();
    expect((await host.status('thawed')).output).toEqual([1, 1]);
    expect((await host.counters())['orchestrator.turns']).toBe(before + 1);
  });

  it('of an action that the operation does not have is refused', async () => {
    const rules = [{ operation: 'firstTurn', action: 'drop' }] as const;
    await expect(startHostProcess('durable-app', { faults: { seed: 1, rules } })).rejects.toThrow(
      'rules[0].action "drop" of firstTurn must be one of delay, pause',
    );
  });

  it('of an operation that the host does not have is refused', async () => {
    const rules = [{ operation: 'send', action: 'drop' }] as const;
    await expect(startHostProcess('durable-app', { faults: { seed: 1, rules } })).rejects.toThrow(
      'rules[0].operation "send" must be one of invoke, worker, startOrchestration',
    );
  });
});

describe('a host that stops', () => {
  it('finishes the activity that runs, and the next host goes on from there', async () => {
    const dataDirectory = temporaryDirectory();
    const first = await startHostProcess('durable-app', { dataDirectory });
    await first.start('fan-out', 'drained', { numbers: [1, 2, 3] });
    await first.close();
    const second = await startHostProcess('durable-app', { dataDirectory });
    expect((await second.status('drained')).output).toEqual([2, 4, 6]);
  });

  it('keeps suspended instances suspended, finished ones readable and versions waiting', async () => {
    const dataDirectory = temporaryDirectory();
    const first = await startHostProcess('durable-app', { dataDirectory });
    await first.start('custom-status', 'asleep');
    await first.request('POST', 'durabletask/instances/asleep/suspend?reason=test');
    await first.raiseEvent('asleep', 'go', null);
    await first.start('throws', 'over');
    await first.status('over');
    await first.kill();
    const second = await startHostProcess('durable-app', {
      dataDirectory,
      settings: { AzureFunctionsJobHost__extensions__durableTask__defaultVersion: '1.0' },
    });
    expect((await second.status('asleep', () => true)).runtimeStatus).toBe('Suspended');
    expect((await second.status('over')).runtimeStatus).toBe('Failed');
    await second.start('child-version', 'too-new', {}, '?version=2.0');
    expect(await second.line(/'too-new' has version '2.0' and waits/)).toContain('CurrentOrOlder 1.0');
    expect((await second.status('too-new', () => true)).runtimeStatus).toBe('Pending');
  });
});
