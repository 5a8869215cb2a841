/** The one stored form of a time: UTC, milliseconds, 24 characters. It compares correctly as text (C11, T62). */
import { z } from 'zod';

/** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type Timestamp = string;

export const timestampSchema = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'expected YYYY-MM-DDTHH:mm:ss.sssZ');

/** The stored form of a date. */
export function toTimestamp(date: Date): Timestamp {
  return date.toISOString();
}

/** The time `ms` milliseconds after `at`. */
export function addMs(at: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(at) + ms).toISOString();
}

/** Milliseconds from one time to another; negative when `to` is earlier. */
export function msBetween(from: Timestamp, to: Timestamp): number {
  return Date.parse(to) - Date.parse(from);
}

/** The earlier of two times. */
export function earlier(one: Timestamp, other: Timestamp): Timestamp {
  return one < other ? one : other;
}
