import * as df from 'durable-functions';
import { describe, expect, it } from 'vitest';
import { drive, type DrivenOrchestration } from '../support/functions-host-replay.js';
import type { HistoryEvent } from '../../local/functions-host/durable/history.js';

type Steps = Generator<df.Task, unknown>;

const dayMs = 86_400_000;

function only(driven: DrivenOrchestration): HistoryEvent {
  const [task, ...others] = driven.open();
  if (task === undefined || others.length > 0) throw new Error(`Not one task is open but ${others.length + 1}.`);
  return task;
}

describe('task ids', () => {
  it('are given in the order of the yields, depth-first', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      const late = durable.callActivity('made first, yielded last');
      const nested = durable.Task.all([durable.callActivity('b'), durable.callActivity('c')]);
      yield durable.Task.any([
        durable.callActivity('a'),
        nested,
        durable.waitForExternalEvent('e'),
        durable.callActivity('d'),
      ]);
      yield late;
      return 0;
    });
    expect(driven.open().map(({ EventId, Name }) => [EventId, Name])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [3, 'd'],
    ]);
    const [, b] = driven.open();
    driven.raise('e', null);
    if (b !== undefined) driven.complete(b, 'done');
    await driven.turn();
    expect(driven.open().map(({ EventId, Name }) => [EventId, Name])).toEqual([
      [0, 'a'],
      [2, 'c'],
      [3, 'd'],
      [4, 'made first, yielded last'],
    ]);
  });

  it('of retries come between those of the tasks beside them', async () => {
    const options = new df.RetryOptions(1000, 3);
    const driven = await drive(function* ({ df: durable }): Steps {
      const results: unknown = yield durable.Task.all([
        durable.callActivityWithRetry('one', options),
        durable.callActivityWithRetry('other', options),
      ]);
      const last: unknown = yield durable.callActivity('last');
      return [results, last];
    });
    const [one, other] = driven.open();
    if (one === undefined || other === undefined) throw new Error('Two tasks should be open.');
    driven.fail(other, 'no');
    driven.fail(one, 'no');
    await driven.turn();
    for (const timer of driven.open()) driven.fire(timer);
    await driven.turn();
    expect(driven.open().map(({ EventId, Name }) => [EventId, Name])).toEqual([
      [4, 'other'],
      [5, 'one'],
    ]);
    for (const task of driven.open()) driven.complete(task, task.Name);
    await driven.turn();
    expect(only(driven)).toMatchObject({ EventId: 6, Name: 'last' });
    driven.complete(only(driven), 'end');
    await driven.turn();
    expect(driven.output()).toEqual([['one', 'other'], 'end']);
  });
});

describe('a timer', () => {
  it('of ten days is a chain of timers of at most six', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      const start = durable.currentUtcDateTime.getTime();
      yield durable.createTimer(new Date(start + 10 * dayMs));
      return (durable.currentUtcDateTime.getTime() - start) / dayMs;
    });
    const hops: number[] = [];
    while (driven.instance.runtimeStatus === 'Running') {
      const timer = only(driven);
      hops.push((Date.parse(timer.FireAt ?? '') - Date.parse(timer.Timestamp)) / dayMs);
      driven.fire(timer);
      await driven.turn();
    }
    expect(hops).toEqual([3, 3, 4]);
    expect(driven.output()).toBe(10);
  });

  it('that is cancelled in its first turn is never on its way', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      yield durable.waitForExternalEvent('go');
      const timer = durable.createTimer(new Date(durable.currentUtcDateTime.getTime() + dayMs));
      yield durable.Task.any([durable.waitForExternalEvent('early'), timer]);
      timer.cancel();
      return 'won';
    });
    driven.raise('early', 1);
    driven.raise('go', 1);
    await driven.turn();
    expect(driven.instance).toMatchObject({ runtimeStatus: 'Completed', cancelledTimers: [0] });
  });

  it('to an invalid date fails the instance', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      yield durable.createTimer(new Date(Number.NaN));
      return 0;
    });
    expect(driven.output()).toContain('createTimer was given an invalid date');
  });
});

describe('a retry', () => {
  it('backs off exponentially up to the longest interval', async () => {
    const options = new df.RetryOptions(1000, 5);
    options.backoffCoefficient = 3;
    options.maxRetryIntervalInMilliseconds = 5000;
    const driven = await drive(function* ({ df: durable }): Steps {
      const result: unknown = yield durable.callActivityWithRetry('a', options);
      return result;
    });
    const delays: number[] = [];
    for (let attempt = 1; attempt < 5; attempt += 1) {
      driven.fail(only(driven), 'no');
      await driven.turn();
      delays.push(Date.parse(only(driven).FireAt ?? '') - Date.parse(only(driven).Timestamp));
      driven.fire(only(driven));
      await driven.turn();
    }
    expect(delays).toEqual([1000, 3000, 5000, 5000]);
  });

  it('with a time limit is refused, because it would hang in Azure', async () => {
    const options = new df.RetryOptions(1000, 5);
    options.retryTimeoutInMilliseconds = 100;
    const driven = await drive(function* ({ df: durable }): Steps {
      yield durable.callActivityWithRetry('a', options);
      return 0;
    });
    driven.fail(only(driven), 'no');
    await driven.turn();
    expect(driven.output()).toContain('retryTimeoutInMilliseconds makes orchestrations hang');
  });
});

describe('an orchestration', () => {
  it('that has returned waits for a timer it has not cancelled', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      const timer = durable.createTimer(new Date(durable.currentUtcDateTime.getTime() + dayMs));
      yield durable.Task.any([durable.waitForExternalEvent('e'), timer]);
      return 'early';
    });
    driven.raise('e', 1);
    await driven.turn();
    expect(driven.instance.runtimeStatus).toBe('Running');
    driven.fire(only(driven));
    await driven.turn();
    expect(driven.output()).toBe('early');
  });

  it('that continues as new drops events it has taken and keeps those that come later', async () => {
    const driven = await drive(function* ({ df: durable }): Steps {
      const round = durable.getInput<number>();
      const value: unknown = yield durable.waitForExternalEvent('value');
      if (round === 1) durable.continueAsNew(2);
      return value;
    }, 1);
    driven.raise('value', 'first');
    driven.raise('value', 'dropped');
    await driven.turn();
    await driven.turn();
    expect(driven.instance.runtimeStatus).toBe('Running');
    driven.raise('value', 'kept');
    await driven.turn();
    expect(driven.output()).toBe('kept');
  });

  it('sees replayed events as replayed and the newest as new', async () => {
    const replaying: boolean[] = [];
    const driven = await drive(function* ({ df: durable }): Steps {
      yield durable.callActivity('a');
      replaying.push(durable.isReplaying);
      yield durable.callActivity('b');
      replaying.push(durable.isReplaying);
      return 0;
    });
    for (let turn = 0; turn < 2; turn += 1) {
      driven.complete(only(driven), turn);
      await driven.turn();
    }
    expect(replaying).toEqual([false, true, false]);
  });
});
