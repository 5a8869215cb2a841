import { describe, expect, it } from 'vitest';
import { nextOccurrence, parseSchedule } from '../../local/functions-host/ncrontab.js';

const next = (schedule: string, after: string): string =>
  nextOccurrence(parseSchedule(schedule), new Date(after)).toISOString();

describe('a schedule', () => {
  it.each([
    ['every second', '* * * * * *', '2026-01-01T00:00:00.999Z', '2026-01-01T00:00:01.000Z'],
    ['every five minutes', '0 */5 * * * *', '2026-01-01T00:05:00.000Z', '2026-01-01T00:10:00.000Z'],
    ['every 20 seconds over midnight', '*/20 * * * * *', '2026-12-31T23:59:40.000Z', '2027-01-01T00:00:00.000Z'],
    ['a list of hours', '0 0 9,17 * * *', '2026-03-01T09:00:00.000Z', '2026-03-01T17:00:00.000Z'],
    ['working hours by name', '0 30 9-17 * * MON-FRI', '2026-11-27T17:30:00.000Z', '2026-11-30T09:30:00.000Z'],
    ['the last day that a month has', '0 0 0 31 * *', '2026-01-31T00:00:00.000Z', '2026-03-31T00:00:00.000Z'],
    ['a leap day', '0 0 0 29 2 *', '2026-01-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    [
      'a day of month and a day of week, which must both match',
      '0 0 0 13 * FRI',
      '2026-01-01T00:00:00.000Z',
      '2026-02-13T00:00:00.000Z',
    ],
    ['a month by name', '0 0 0 1 jul *', '2026-07-01T00:00:00.000Z', '2027-07-01T00:00:00.000Z'],
    ['a start with a step', '0 10/20 * * * *', '2026-01-01T00:30:00.000Z', '2026-01-01T00:50:00.000Z'],
    ['five fields, which begin at second 0', '*/2 * * * *', '2026-01-01T00:00:30.000Z', '2026-01-01T00:02:00.000Z'],
  ])('of %s comes next at the right time', (_what, schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  it.each([
    '',
    '* * * *',
    '60 * * * * *',
    '* * 24 * * *',
    '0 0 0 0 * *',
    '5-1 * * * * *',
    '*/0 * * * * *',
    'a b c d e f',
    '* * * * * 7',
  ])('that is none is refused with its text: "%s"', (text) => {
    expect(() => parseSchedule(text)).toThrow(`"${text}" is no NCRONTAB schedule`);
  });
});
