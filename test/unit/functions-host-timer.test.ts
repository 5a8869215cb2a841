import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConsole } from '../../local/functions-host/console.js';
import type { TimerStatus } from '../../local/functions-host/durable/records.js';
import { parseSchedule } from '../../local/functions-host/ncrontab.js';
import { createTimers } from '../../local/functions-host/timers.js';
import { startTimerTrigger, type TimerTrigger } from '../../local/functions-host/triggers/timer.js';

interface TimerInput {
  readonly ScheduleStatus: { readonly Last: string; readonly Next: string } | null;
  readonly IsPastDue: boolean;
}

interface Run {
  readonly at: string;
  readonly input: TimerInput;
}

const start = '2026-01-01T00:00:30.000Z';
const minuteMs = 60_000;
const clock = (): string => new Date().toISOString().slice(11, 19);

let runs: Run[];
let lasting: number[];
let stored: TimerStatus | undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(start) });
  runs = [];
  lasting = [];
  stored = undefined;
});

afterEach(() => {
  vi.useRealTimers();
});

function startTimer(
  schedule: string,
  options: { readonly runOnStartup?: boolean; readonly useMonitor?: boolean } = {},
): TimerTrigger {
  return startTimerTrigger({
    fn: { name: 'tick', bindings: {} },
    bindingName: 'timer',
    extraInputs: [],
    schedule: parseSchedule(schedule),
    runOnStartup: false,
    useMonitor: true,
    ...options,
    timers: createTimers(),
    console: createConsole(),
    status: {
      timerStatus: () => stored,
      saveTimerStatus: (_name, status) => {
        stored = status;
        return Promise.resolve();
      },
    },
    invoke: async ({ inputs: [input] }) => {
      runs.push({ at: clock(), input: JSON.parse(input?.data.json ?? '') as TimerInput });
      await new Promise((resolve) => setTimeout(resolve, lasting.shift() ?? 0));
      return {};
    },
  });
}

describe('a timer', () => {
  it('runs when its schedule says', async () => {
    startTimer('0 * * * * *');
    await vi.advanceTimersByTimeAsync(3 * minuteMs);
    expect(runs.map(({ at }) => at)).toEqual(['00:01:00', '00:02:00', '00:03:00']);
  });

  it('never overlaps itself: after a long run one follows at once, other missed ones are dropped', async () => {
    lasting = [150_000];
    startTimer('0 * * * * *');
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(runs.map(({ at }) => at)).toEqual(['00:01:00', '00:03:30', '00:04:00', '00:05:00']);
  });

  it('runs once, past due, when the host was down over an occurrence', async () => {
    stored = {
      last: '2025-12-31T23:00:00.000Z',
      next: '2026-01-01T00:00:00.000Z',
      lastUpdated: '2025-12-31T23:00:00.000Z',
    };
    startTimer('0 0 * * * *');
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(runs).toMatchObject([
      { at: '00:00:30', input: { IsPastDue: true, ScheduleStatus: { Last: '2025-12-31T23:00:00.000Z' } } },
    ]);
    await vi.advanceTimersByTimeAsync(60 * minuteMs);
    expect(runs[1]).toMatchObject({
      at: '01:00:00',
      input: { IsPastDue: false, ScheduleStatus: { Last: '2026-01-01T00:00:30.000Z' } },
    });
  });

  it('is not past due when no occurrence was missed', async () => {
    stored = {
      last: '2026-01-01T00:00:00.000Z',
      next: '2026-01-01T01:00:00.000Z',
      lastUpdated: '2026-01-01T00:00:00.000Z',
    };
    startTimer('0 0 * * * *');
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(runs).toEqual([]);
  });

  it.each([
    ['more often than once a minute', '*/10 * * * * *', {}],
    ['with useMonitor: false', '0 * * * * *', { useMonitor: false }],
  ])('that runs %s has no status and is never past due', async (_what, schedule, options) => {
    stored = {
      last: '2025-12-31T23:00:00.000Z',
      next: '2025-12-31T23:00:01.000Z',
      lastUpdated: '2025-12-31T23:00:00.000Z',
    };
    const before = stored;
    startTimer(schedule, options);
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(runs[0]?.input).toMatchObject({ ScheduleStatus: null, IsPastDue: false });
    expect(stored).toBe(before);
  });

  it('runs at start when it says so', async () => {
    startTimer('0 0 0 * * *', { runOnStartup: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(runs.map(({ at }) => at)).toEqual(['00:00:30']);
  });

  it('waits for what is months away', async () => {
    startTimer('0 0 0 1 4 *');
    await vi.advanceTimersByTimeAsync(Date.parse('2026-04-01T00:00:00Z') - Date.parse(start) - 1);
    expect(runs).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(1);
  });

  it('plans nothing more once it is closed, and waits for its run', async () => {
    lasting = [1000];
    const timer = startTimer('0 * * * * *');
    await vi.advanceTimersByTimeAsync(30_500);
    let isClosed = false;
    void timer.close().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(400);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(isClosed).toBe(true);
    expect(runs).toHaveLength(1);
  });
});
