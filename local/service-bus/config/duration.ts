/** ISO 8601 durations as Azure writes them, for example PT1M or P14D. */
const pattern = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** From here on Azure means "never". */
const neverDays = 10_000_000;

/** Milliseconds of a duration; Infinity for the service's longest one, undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null || text.endsWith('P') || text.endsWith('T')) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  const total = (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0);
  return (days ?? 0) >= neverDays ? Infinity : Math.round(total * 1000);
}
