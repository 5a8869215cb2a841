import { beforeAll, describe, expect, it } from 'vitest';
import { startHostProcess, type HostProcess } from '../support/functions-host-process.js';

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess('durable-app');
});

/** Calls a method of the real durable client inside the app. */
async function client(method: string, ...args: unknown[]): Promise<unknown> {
  return (await host.request('POST', `api/client/${method}`, args)).body;
}

async function run(name: string, instanceId: string, input: unknown = {}): ReturnType<HostProcess['status']> {
  await host.start(name, instanceId, input);
  return host.status(instanceId);
}

describe('an orchestration', () => {
  it('calls activities one after the other', async () => {
    const status = await run('three-activities', 'greetings');
    expect(status).toMatchObject({
      name: 'three-activities',
      runtimeStatus: 'Completed',
      output: ['Hello, Tokyo!', 'Hello, Seattle!', 'Hello, London!'],
    });
  });

  it('gives activities text as text, flags as the text of .NET, and null as nothing', async () => {
    expect((await run('shows-input-types', 'typed')).output).toEqual([
      { type: 'string', input: '42' },
      { type: 'string', input: '{"a":1}' },
      { type: 'string', input: '"q"' },
      { type: 'string', input: 'plain' },
      { type: 'number', input: 42 },
      { type: 'object', input: { a: 1 } },
      { type: 'string', input: 'True' },
      { type: 'string', input: 'False' },
      { type: 'undefined' },
    ]);
  });

  it('takes the event that beats the timer, and ends at once when it cancels the timer', async () => {
    await host.start('race', 'race-won', { timeoutMs: 3_600_000 });
    await host.raiseEvent('race-won', 'reply', { ok: true });
    expect((await host.status('race-won')).output).toEqual({ kind: 'replied', reply: { ok: true } });
  });

  it('takes the timer when no event comes', async () => {
    expect((await run('race', 'race-lost', { timeoutMs: 20 })).output).toEqual({ kind: 'timedOut' });
  });

  it('keeps events that come before the wait, in their order', async () => {
    await host.start('late-waits', 'early');
    await host.raiseEvent('early', 'value', 1);
    await host.raiseEvent('early', 'value', 2);
    await host.raiseEvent('early', 'go', null);
    expect((await host.status('early')).output).toEqual([1, 2]);
  });

  it('serves equal waits last-created first', async () => {
    await host.start('equal-waits', 'equal');
    await host.raiseEvent('equal', 'value', 'first');
    await host.raiseEvent('equal', 'value', 'second');
    expect((await host.status('equal')).output).toEqual(['second', 'first']);
  });

  it('repeats a failing activity with back-off, and goes on with the right task ids', async () => {
    const status = await run('retries', 'retried', { failures: 2, attempts: 3 });
    expect(status.output).toEqual({ after: { attempt: 3 } });
  });

  it('gives up after the allowed attempts, one interval after the last failure', async () => {
    const status = await run('retries', 'given-up', { failures: 9, attempts: 2 });
    expect(status.runtimeStatus).toBe('Failed');
    expect(status.output).toContain("Activity function 'flaky' failed: attempt 2 fails");
    expect(status.historyEvents?.filter(({ EventType }) => EventType === 'TimerFired')).toHaveLength(2);
  });

  it('gathers parallel activities in the order of their calls', async () => {
    expect((await run('fan-out', 'fan', { numbers: [1, 2, 3] })).output).toEqual([2, 4, 6]);
  });

  it('stays Running until an activity that lost its race is done', async () => {
    await host.start('losing-activity', 'loser');
    await host.status(
      'loser',
      ({ historyEvents }) => historyEvents?.some((event) => event.EventType === 'TaskScheduled') ?? false,
    );
    await host.raiseEvent('loser', 'reply', {});
    const raced = await host.status(
      'loser',
      ({ historyEvents }) => historyEvents?.some((event) => event.EventType === 'EventRaised') ?? false,
    );
    expect(raced.runtimeStatus).toBe('Running');
    await host.start('release', 'releases-the-loser', { id: 'loser' });
    expect((await host.status('loser')).output).toBe('raced');
  });

  it('takes the result of a sub-orchestration, and its failure', async () => {
    expect((await run('parent', 'parent-1', { fails: false })).output).toEqual({ child: { parent: 'parent-1' } });
    const { output } = await run('parent', 'parent-2', { fails: true });
    expect(output).toEqual({
      caught: expect.stringContaining("Orchestrator function 'child' failed: the child fails") as unknown,
    });
  });

  it('fails when its sub-orchestration is no function of the app', async () => {
    expect((await run('parent-of-nobody', 'lonely')).output).toContain(
      "The function 'no-such-orchestrator' doesn't exist",
    );
  });

  it('continues as new with a fresh history', async () => {
    const status = await run('rounds', 'rounds', { round: 1, until: 4 });
    expect(status.output).toEqual({ round: 4 });
    expect(status.input).toEqual({ round: 4, until: 4 });
    expect(status.historyEvents?.filter(({ EventType }) => EventType === 'TaskScheduled')).toHaveLength(1);
  });

  it('shows its custom status', async () => {
    await host.start('custom-status', 'custom');
    await host.status('custom', ({ customStatus }) => JSON.stringify(customStatus) === '{"step":"waiting"}');
    await host.raiseEvent('custom', 'go', null);
    expect((await host.status('custom')).customStatus).toEqual({ step: 'done' });
  });

  it('clears its custom status by setting an empty one', async () => {
    await host.start('clears-status', 'cleared');
    await host.status('cleared', ({ customStatus }) => customStatus === 'busy');
    await host.raiseEvent('cleared', 'go', null);
    expect((await host.status('cleared')).customStatus).toBeNull();
  });

  it('fails with the text of its error', async () => {
    const status = await run('throws', 'throws');
    expect(status).toMatchObject({ runtimeStatus: 'Failed', output: "Orchestrator function 'throws' failed: no way" });
  });

  it('fails with the error of an activity', async () => {
    const { output } = await run('fails-in-activity', 'fails', { message: 'out of stock' });
    expect(output).toContain("Activity function 'fail' failed: out of stock");
  });

  it('runs under the version it was started with, and its child under its own', async () => {
    const settings = { AzureFunctionsJobHost__extensions__durableTask__defaultVersion: '2.0' };
    const versioned = await startHostProcess('durable-app', { settings });
    await versioned.start('version', 'versioned', { child: '1.5' }, '?version=1.2');
    expect((await versioned.status('versioned')).output).toEqual({ own: '1.2', child: '1.5' });
  });

  it('with a version waits for ever in an app without defaultVersion, and the host says why', async () => {
    await host.start('child-version', 'versioned', {}, '?version=1.2');
    expect(await host.line(/'versioned' has version '1.2' and waits/)).toContain('no defaultVersion');
    expect((await host.status('versioned', () => true)).runtimeStatus).toBe('Pending');
    await host.start('version', 'parent-of-versioned', { child: '1.5' });
    await host.line(/has version '1.5' and waits/);
    expect((await host.status('parent-of-versioned', () => true)).runtimeStatus).toBe('Running');
  });
});

describe('an operator', () => {
  it('terminates an instance, which takes no more events', async () => {
    await host.start('custom-status', 'to-terminate');
    expect(await client('terminate', 'to-terminate', 'enough')).toEqual({});
    expect(await host.status('to-terminate')).toMatchObject({ runtimeStatus: 'Terminated', output: 'enough' });
    expect((await host.raiseEvent('to-terminate', 'go', null)).status).toBe(410);
  });

  it('suspends an instance, which goes on with what came meanwhile once it is resumed', async () => {
    await host.start('custom-status', 'to-suspend');
    await client('suspend', 'to-suspend', 'wait');
    await host.raiseEvent('to-suspend', 'go', null);
    expect(
      (await host.status('to-suspend', ({ runtimeStatus }) => runtimeStatus === 'Suspended')).customStatus,
    ).not.toEqual({
      step: 'done',
    });
    await client('resume', 'to-suspend', 'go on');
    expect((await host.status('to-suspend')).customStatus).toEqual({ step: 'done' });
  });

  it('purges a finished instance, and none that runs', async () => {
    await run('throws', 'to-purge');
    expect(await client('purgeInstanceHistory', 'to-purge')).toEqual({ result: { instancesDeleted: 1 } });
    expect(await client('getStatus', 'to-purge')).toEqual({ error: expect.stringContaining('404') as unknown });
    await host.start('custom-status', 'not-to-purge');
    expect((await host.request('DELETE', 'durabletask/instances/not-to-purge')).status).toBe(412);
    expect(await client('purgeInstanceHistory', 'not-to-purge')).toEqual({
      error: expect.stringContaining('412') as unknown,
    });
  });

  it('finds instances by status, page by page', async () => {
    for (const id of ['listed-1', 'listed-2', 'listed-3']) await host.start('custom-status', id);
    const first = await host.request('GET', 'durabletask/instances/?instanceIdPrefix=listed-&top=2');
    expect(first.body).toHaveLength(2);
    const token = first.headers.get('x-ms-continuation-token') ?? '';
    const rest = await host.request('GET', 'durabletask/instances/?instanceIdPrefix=listed-&top=2', undefined, {
      'x-ms-continuation-token': token,
    });
    expect(rest.body).toHaveLength(1);
    expect(rest.headers.has('x-ms-continuation-token')).toBe(false);
    const finished = await host.request(
      'GET',
      'durabletask/instances/?instanceIdPrefix=listed-&runtimeStatus=Completed',
    );
    expect(finished.body).toEqual([]);
  });
});

describe('the status', () => {
  it('of an instance that runs says where and when to ask again', async () => {
    await host.start('custom-status', 'polled');
    const { status, headers } = await host.request('GET', 'durabletask/instances/polled');
    expect(status).toBe(202);
    expect(headers.get('retry-after')).toBe('5');
    expect((await fetch(headers.get('location') ?? '')).status).toBe(202);
  });

  it('of a failed instance is an error for who asks for that', async () => {
    await run('throws', 'failed');
    const path = 'durabletask/instances/failed';
    expect((await host.request('GET', path)).status).toBe(200);
    expect((await host.request('GET', `${path}?returnInternalServerErrorOnFailure=true`)).status).toBe(500);
  });

  it('of another task hub is unknown', async () => {
    await host.start('custom-status', 'at-home');
    expect((await host.request('GET', 'durabletask/instances/at-home?taskHub=Elsewhere')).status).toBe(404);
    expect((await host.request('GET', 'durabletask/instances/at-home?taskHub=durableapp')).status).toBe(202);
  });
});

describe('a start', () => {
  it('of an active id is refused, of a finished id runs again', async () => {
    await host.start('custom-status', 'twice');
    const again = await host.start('custom-status', 'twice');
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining('already exists') as unknown });
    await host.raiseEvent('twice', 'go', null);
    await host.status('twice');
    expect((await host.start('throws', 'twice')).status).toBe(202);
    expect((await host.status('twice')).name).toBe('throws');
  });

  it('of a function that is no orchestrator is refused', async () => {
    expect((await host.start('hello', 'no-orchestrator')).status).toBe(400);
  });

  it('with an id that Azure refuses is refused', async () => {
    for (const id of ['a%2Fb', 'a%23b', '@a', 'x'.repeat(101)]) {
      expect((await host.start('throws', id)).status).toBe(400);
    }
  });
});

describe('an event', () => {
  it('to an unknown instance is refused', async () => {
    expect(await client('raiseEvent', 'nobody', 'reply', {})).toEqual({ error: "No instance with ID 'nobody' found." });
  });

  it('needs JSON', async () => {
    await host.start('custom-status', 'fussy');
    const path = 'durabletask/instances/fussy/raiseEvent/go';
    expect((await host.request('POST', path, '{}', { 'content-type': 'text/plain' })).status).toBe(400);
    expect((await host.request('POST', path, '{"broken')).status).toBe(400);
    expect(await host.request('POST', path)).toMatchObject({ status: 400, text: 'Invalid JSON content' });
  });
});

describe('an orchestrator that breaks the rules', () => {
  it('by yielding one timer in two races fails with an explanation', async () => {
    await host.start('uses-timer-twice', 'trap');
    await host.raiseEvent('trap', 'one', null);
    const { runtimeStatus, output } = await host.status('trap');
    expect(runtimeStatus).toBe('Failed');
    expect(output).toContain('A durable timer was yielded again inside a new Task.any or Task.all');
  });

  it('by calling something else in a replay fails with what differs', async () => {
    const { output } = await run('changes-its-mind', 'fickle');
    expect(output).toContain('not deterministic: task 0 was activity "hello"');
    expect(output).toContain('is activity "echo" in this replay');
  });

  it.each([
    ['calls-entity', 'context.df.callEntity is not supported'],
    ['calls-http', 'context.df.callHttp is not supported'],
  ])('by what this host refuses (%s) fails and says so', async (name, text) => {
    expect((await run(name, `refused-${name}`)).output).toContain(text);
  });

  it.each([
    ['reads-the-clock', /'reads-the-clock' is not deterministic: it calls Date.now\(\).*orchestrations\.ts/],
    ['reads-the-clock', /'reads-the-clock' is not deterministic: it calls new Date\(\).*currentUtcDateTime/],
    ['draws-lots', /'draws-lots' is not deterministic: it calls Math\.random\(\)/],
    ['draws-lots', /'draws-lots' is not deterministic: it calls crypto\.randomUUID\(\)/],
    ['starts-a-promise', /'starts-a-promise' is not deterministic: it calls something that makes a promise/],
    ['forgets-to-yield', /'forgets-to-yield' calls "hello" without yielding the task/],
  ])('is reported with its name (%s)', async (name, text) => {
    await run(name, `${name}-${text.source.length}`);
    expect(await host.line(text)).toContain('fail: ');
  });

  it.each(['keeps-the-rules', 'logs'])('is the only one that is reported (%s is not)', async (name) => {
    await run(name, `good-${name}`);
    expect(host.lines.filter((line) => line.includes(`'${name}' is not`))).toEqual([]);
  });

  it('by failing is shown with its own stack', async () => {
    await run('throws', 'shown');
    expect(await host.line(/^fail: Error: no way\n\s+at .*orchestrations\.ts/)).not.toContain('OutOfProcData');
  });
});
