/** NCRONTAB schedules: six fields from second to day of week, in UTC. Pure: the time is an argument. */

/** The values that each field allows. */
export interface Schedule {
  readonly seconds: ReadonlySet<number>;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly Field[] = [
  { name: 'second', min: 0, max: 59 },
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: monthNames },
  { name: 'day of week', min: 0, max: 6, names: dayNames },
];
const fieldText = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/;
const dayMs = 86_400_000;
/** Any day of month in any month comes back within eight years, on a given day of week within forty. */
const searchDays = 40 * 366;

/** Parses a schedule; five fields mean second 0. Throws with what is wrong. */
export function parseSchedule(text: string): Schedule {
  const parts = text.trim().split(/\s+/);
  const all = parts.length === 5 ? ['0', ...parts] : parts;
  if (all.length !== 6) {
    throw new Error(`"${text}" is no NCRONTAB schedule: it needs 6 fields, as in "0 */5 * * * *".`);
  }
  const [seconds, minutes, hours, days, months, weekdays] = fields.map((field, index) =>
    parseField(all[index] ?? '', field, text),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  return { seconds, minutes, hours, days, months, weekdays };
}

/** The first time after `after` that the schedule allows; day of month and day of week must both match. */
export function nextOccurrence(schedule: Schedule, after: Date): Date {
  const start = new Date(Math.floor(after.getTime() / 1000) * 1000 + 1000);
  const midnight = Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  for (let day = 0; day < searchDays; day += 1) {
    const date = new Date(midnight + day * dayMs);
    if (!allowsDay(schedule, date)) continue;
    const secondOfDay = nextSecondOfDay(schedule, day === 0 ? (start.getTime() - midnight) / 1000 : 0);
    if (secondOfDay !== undefined) return new Date(date.getTime() + secondOfDay * 1000);
  }
  throw new Error('The schedule allows no day at all.');
}

function allowsDay(schedule: Schedule, date: Date): boolean {
  return (
    schedule.months.has(date.getUTCMonth() + 1) &&
    schedule.days.has(date.getUTCDate()) &&
    schedule.weekdays.has(date.getUTCDay())
  );
}

function nextSecondOfDay(schedule: Schedule, from: number): number | undefined {
  for (let hour = Math.floor(from / 3600); hour < 24; hour += 1) {
    if (!schedule.hours.has(hour)) continue;
    for (let minute = 0; minute < 60; minute += 1) {
      const base = hour * 3600 + minute * 60;
      if (!schedule.minutes.has(minute) || base + 59 < from) continue;
      const second = firstFrom(schedule.seconds, from - base);
      if (second !== undefined) return base + second;
    }
  }
  return undefined;
}

function firstFrom(seconds: ReadonlySet<number>, from: number): number | undefined {
  const candidates = [...seconds].filter((second) => second >= from);
  return candidates.length === 0 ? undefined : Math.min(...candidates);
}

function parseField(text: string, field: Field, schedule: string): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = fieldText.exec(part);
    const range = match === null ? undefined : parseRange(match, field);
    if (range === undefined) {
      throw new Error(`"${schedule}" is no NCRONTAB schedule: "${part}" is not allowed for the ${field.name}.`);
    }
    for (let value = range.first; value <= range.last; value += range.step) values.add(value);
  }
  return values;
}

function parseRange([, from = '', to, step]: RegExpExecArray, field: Field): Range | undefined {
  const first = from === '*' ? field.min : parseValue(from, field);
  const isOpen = from === '*' || step !== undefined;
  const end = isOpen ? field.max : first;
  const last = to === undefined ? end : parseValue(to, field);
  return first === undefined || last === undefined ? undefined : rangeOf(first, last, Number(step ?? 1));
}

function rangeOf(first: number, last: number, step: number): Range | undefined {
  return first <= last && step > 0 ? { first, last, step } : undefined;
}

function parseValue(text: string, { min, max, names }: Field): number | undefined {
  const name = names?.findIndex((candidate) => text.toLowerCase().startsWith(candidate)) ?? -1;
  const value = name >= 0 ? name + min : Number(/^\d+$/.test(text) ? text : Number.NaN);
  return value >= min && value <= max ? value : undefined;
}
