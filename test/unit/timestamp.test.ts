import { describe, expect, it } from 'vitest';
import { addMs, earlier, msBetween, timestampSchema, toTimestamp } from '../../functions/contracts/timestamp.js';

describe('a timestamp', () => {
  it('is written in UTC with milliseconds, 24 characters', () => {
    const text = toTimestamp(new Date(Date.UTC(2026, 0, 5, 9)));
    expect(text).toBe('2026-01-05T09:00:00.000Z');
    expect(text).toHaveLength(24);
    expect(timestampSchema.parse(text)).toBe(text);
  });

  // C11, T62, V8: other spellings of the same instant compare wrongly as text
  it.each([
    '2026-01-01T09:00:00+09:00',
    '2026-01-01T00:00:00Z',
    '20260101T000000Z',
    '2026-01-01',
    '',
    1767225600000,
    null,
  ])('%j is refused', (foreign) => {
    expect(timestampSchema.safeParse(foreign).success).toBe(false);
  });

  it('moves by milliseconds, over the ends of day and year', () => {
    expect(addMs('2025-12-31T23:59:59.999Z', 1)).toBe('2026-01-01T00:00:00.000Z');
    expect(addMs('2026-01-01T00:00:00.000Z', -1)).toBe('2025-12-31T23:59:59.999Z');
    expect(msBetween('2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z')).toBe(1);
    expect(msBetween('2026-01-01T00:00:00.000Z', '2025-12-31T23:59:59.999Z')).toBe(-1);
  });

  it('orders as text as it orders in time', () => {
    const [early, late] = ['2026-01-05T09:00:00.009Z', '2026-01-05T09:00:00.010Z'] as const;
    expect(earlier(early, late)).toBe(early);
    expect(earlier(late, early)).toBe(early);
    expect(earlier(late, late)).toBe(late);
  });
});
