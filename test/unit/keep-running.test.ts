import { beforeEach, describe, expect, it } from 'vitest';
import { keepRunning } from '../../local/keep-running.js';
import type { PartName } from '../../local/part-protocol.js';

let now: number;
let restarted: PartName[];
let given: Error[];
let partEnded: (part: PartName, reason: string) => void;

const keep = (restart = (part: PartName) => Promise.resolve(void restarted.push(part))): typeof partEnded => {
  const ended = keepRunning({
    restart,
    report: () => undefined,
    giveUp: (error) => given.push(error),
    now: () => now,
  });
  return (part, reason) => {
    ended(part, { reason, isBroken: reason.startsWith('The disk') });
  };
};

beforeEach(() => {
  now = 0;
  restarted = [];
  given = [];
  partEnded = keep();
});

describe('a part that ended unexpectedly', () => {
  it('is started again', () => {
    partEnded('functions-host', 'signal SIGKILL');
    expect(restarted).toEqual(['functions-host']);
    expect(given).toEqual([]);
  });

  it('is given up when it ends for the fourth time within a minute', () => {
    for (now = 0; now < 40_000; now += 10_000) partEnded('functions-host', 'exit code 1');
    expect(restarted).toHaveLength(3);
    expect(given.map(({ message }) => message)).toEqual([
      'functions-host ended unexpectedly (exit code 1), 4 times within a minute.',
    ]);
  });

  it('may end as often as it likes in a longer time, and another part ends on its own account', () => {
    for (now = 0; now < 600_000; now += 30_000) partEnded('functions-host', 'exit code 1');
    for (let time = 0; time < 3; time += 1) partEnded('cosmos-db', 'signal SIGKILL');
    expect(restarted).toHaveLength(23);
    expect(given).toEqual([]);
  });

  it('is given up at once when it says that it cannot go on', () => {
    partEnded('cosmos-db', 'The disk is full.');
    expect(restarted).toEqual([]);
    expect(given.map(({ message }) => message)).toEqual(['cosmos-db has given up. The disk is full.']);
  });

  it('is given up when it can’t be started again', async () => {
    const failed = Promise.reject(new Error('port taken'));
    keep(() => failed)('service-bus', 'signal SIGKILL');
    await failed.catch(() => undefined);
    expect(given.map(({ message }) => message)).toEqual(['service-bus can’t be started again: port taken']);
  });
});
