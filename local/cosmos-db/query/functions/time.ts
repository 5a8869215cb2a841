/** Date and time functions. Dates are texts `YYYY-MM-DDThh:mm:ss.fffffffZ`, ticks are 100 ns since 1970-01-01. */
import type { Value } from '../values.js';
import type { FunctionTable } from './registry.js';

const TICKS_PER_MS = 10_000;

function dateText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -1)}0000Z`;
}

function parseDate(value: Value): number | undefined {
  if (typeof value !== 'string') return undefined;
  const milliseconds = Date.parse(value.replace(/(\.\d{3})\d+/, '$1'));
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** The ticks within the millisecond of a date that `parseDate` reads. */
function ticksBelowMs(text: string): number {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  return Number(fraction.padEnd(7, '0').slice(3, 7));
}

function withinDates(milliseconds: number): boolean {
  return Math.abs(milliseconds) <= 8.64e15;
}

const MS_OF_PART: Readonly<Record<string, number>> = {
  day: 86_400_000,
  dd: 86_400_000,
  d: 86_400_000,
  hour: 3_600_000,
  hh: 3_600_000,
  minute: 60_000,
  mi: 60_000,
  n: 60_000,
  second: 1000,
  ss: 1000,
  s: 1000,
  millisecond: 1,
  ms: 1,
};

const MONTHS_OF_PART: Readonly<Record<string, number>> = { year: 12, yyyy: 12, yy: 12, month: 1, mm: 1, m: 1 };

function addMonths(start: number, months: number): number {
  const date = new Date(start);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, lastDay));
}

function dateAdd([part, amount, value]: readonly Value[]): Value {
  const start = parseDate(value);
  if (typeof part !== 'string' || typeof amount !== 'number' || start === undefined) return undefined;
  const name = part.toLowerCase();
  const months = MONTHS_OF_PART[name];
  const width = MS_OF_PART[name];
  const moved =
    months !== undefined ? addMonths(start, months * amount) : width !== undefined ? start + width * amount : NaN;
  return withinDates(moved) ? dateText(moved) : undefined;
}

/** Counts the boundaries of the part between two dates. */
function dateDiff([part, from, to]: readonly Value[]): Value {
  const start = parseDate(from);
  const end = parseDate(to);
  if (typeof part !== 'string' || start === undefined || end === undefined) return undefined;
  const width = MS_OF_PART[part.toLowerCase()];
  if (width !== undefined) return Math.floor(end / width) - Math.floor(start / width);
  const months = MONTHS_OF_PART[part.toLowerCase()];
  if (months === undefined) return undefined;
  const monthOf = (time: number): number => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth();
  return Math.floor(monthOf(end) / months) - Math.floor(monthOf(start) / months);
}

function toTicks(value: Value): Value {
  const milliseconds = parseDate(value);
  if (milliseconds === undefined || typeof value !== 'string') return undefined;
  return milliseconds * TICKS_PER_MS + ticksBelowMs(value);
}

function fromTicks(value: Value): Value {
  if (typeof value !== 'number') return undefined;
  const milliseconds = Math.floor(value / TICKS_PER_MS);
  if (!withinDates(milliseconds)) return undefined;
  const below = String(Math.trunc(value - milliseconds * TICKS_PER_MS)).padStart(4, '0');
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${below}Z`;
}

/** Parts of a date, from the date and from the ticks of its second. */
const READERS: readonly (readonly [names: RegExp, read: (date: Date, ticks: number) => number])[] = [
  [/^(?:year|yyyy|yy)$/, (date) => date.getUTCFullYear()],
  [/^(?:month|mm|m)$/, (date) => date.getUTCMonth() + 1],
  [/^(?:day|dd|d)$/, (date) => date.getUTCDate()],
  [/^(?:hour|hh)$/, (date) => date.getUTCHours()],
  [/^(?:minute|mi|n)$/, (date) => date.getUTCMinutes()],
  [/^(?:second|ss|s)$/, (date) => date.getUTCSeconds()],
  [/^(?:millisecond|ms)$/, (date) => date.getUTCMilliseconds()],
  [/^(?:microsecond|mcs)$/, (_, ticks) => Math.floor(ticks / 10)],
  [/^(?:nanosecond|ns)$/, (_, ticks) => ticks * 100],
];

function datePart([part, value]: readonly Value[]): Value {
  const milliseconds = parseDate(value);
  if (typeof part !== 'string' || typeof value !== 'string' || milliseconds === undefined) return undefined;
  const read = READERS.find(([names]) => names.test(part.toLowerCase()))?.[1];
  const date = new Date(milliseconds);
  return read?.(date, date.getUTCMilliseconds() * TICKS_PER_MS + ticksBelowMs(value));
}

function fromTimestamp(value: Value): Value {
  return typeof value === 'number' && withinDates(value) ? dateText(value) : undefined;
}

function now(apply: (now: number) => Value): FunctionTable[string] {
  return { minimum: 0, maximum: 0, apply: (_, time) => apply(time) };
}

export const TIME_FUNCTIONS: FunctionTable = {
  GETCURRENTDATETIME: now(dateText),
  GETCURRENTDATETIMESTATIC: now(dateText),
  GETCURRENTTIMESTAMP: now((time) => time),
  GETCURRENTTIMESTAMPSTATIC: now((time) => time),
  GETCURRENTTICKS: now((time) => time * TICKS_PER_MS),
  GETCURRENTTICKSSTATIC: now((time) => time * TICKS_PER_MS),
  DATETIMEADD: { minimum: 3, maximum: 3, apply: dateAdd },
  DATETIMEDIFF: { minimum: 3, maximum: 3, apply: dateDiff },
  DATETIMEPART: { minimum: 2, maximum: 2, apply: datePart },
  DATETIMETOTICKS: { minimum: 1, maximum: 1, apply: ([value]) => toTicks(value) },
  DATETIMETOTIMESTAMP: { minimum: 1, maximum: 1, apply: ([value]) => parseDate(value) },
  TICKSTODATETIME: { minimum: 1, maximum: 1, apply: ([value]) => fromTicks(value) },
  TIMESTAMPTODATETIME: { minimum: 1, maximum: 1, apply: ([value]) => fromTimestamp(value) },
};
