const pattern = /^P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Seconds of an ISO 8601 duration of days, hours, minutes and seconds. */
export function durationSeconds(text: string): number {
  const parts = pattern.exec(text);
  if (parts === null) throw new Error(`"${text}" is no duration like P14D or PT10M.`);
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** The duration if it lies between two others, else the nearer of them. */
export function clampDuration(text: string, low: string, high: string): string {
  const seconds = durationSeconds(text);
  if (seconds < durationSeconds(low)) return low;
  return seconds > durationSeconds(high) ? high : text;
}
