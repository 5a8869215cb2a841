const timeSpan = /^(?:(\d+)\.)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?$/;

/** Milliseconds of a .NET time span such as `00:05:00` or `1.00:00:00`; undefined when the text is none. */
export function parseTimeSpan(text: string): number | undefined {
  const parts = timeSpan.exec(text);
  if (parts === null) return undefined;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = '0'] = parts;
  const wholeSeconds = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return wholeSeconds * 1000 + Math.round(Number(`0.${fraction}`) * 1000);
}
