/** The form of a timer's schedule: NCRONTAB with six fields, as Azure Functions reads it. */

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Second, minute, hour, day of the month, month, day of the week. */
const fields: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

/** True if the runtime can run a timer by this schedule. */
export function isSchedule(text: string): boolean {
  const parts = text.split(' ');
  return parts.length === fields.length && fields.every((field, index) => isFieldOf(parts[index] ?? '', field));
}

/** A list of parts, each `*`, a value or a range, and perhaps a step: `*`, `5`, `9-17`, `0,30`, `*\/10`, `MON-FRI`. */
function isFieldOf(text: string, field: Field): boolean {
  return text.split(',').every((part) => {
    const [, range, step = '1'] = /^(\*|[^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    return range !== undefined && Number(step) > 0 && (range === '*' || isRangeOf(range, field));
  });
}

function isRangeOf(text: string, field: Field): boolean {
  const bounds = text.split('-').map((bound) => valueOf(bound, field));
  const [from = NaN, to = from] = bounds;
  return bounds.length <= 2 && from >= field.min && to <= field.max && from <= to;
}

function valueOf(text: string, { names = [], min }: Field): number {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const index = names.indexOf(text.toLowerCase());
  return index === -1 ? NaN : index + min;
}
