import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextOccurrence, parseSchedule } from '../../local/functions-host/ncrontab.js';

const field = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 1, max }).map(String),
    fc.integer({ min: 2, max }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max }))
      .map(([one, other]) => `${Math.min(one, other)},${Math.max(one, other)}`),
  );
const schedules = fc.tuple(field(59), field(59), field(23)).map((fields) => `${fields.join(' ')} * * *`);
const times = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });

it('the next occurrence is later, allowed, and none is skipped before it', () => {
  fc.assert(
    fc.property(schedules, times, fc.integer({ min: 1, max: 86_400 }), (text, after, back) => {
      const schedule = parseSchedule(text);
      const next = nextOccurrence(schedule, after);
      expect(next.getTime()).toBeGreaterThan(after.getTime());
      expect(schedule.seconds.has(next.getUTCSeconds())).toBe(true);
      expect(schedule.minutes.has(next.getUTCMinutes())).toBe(true);
      expect(schedule.hours.has(next.getUTCHours())).toBe(true);
      const between = new Date(Math.max(after.getTime(), next.getTime() - back * 1000));
      if (between < next) expect(nextOccurrence(schedule, between)).toEqual(next);
    }),
    { seed: 1 },
  );
});
