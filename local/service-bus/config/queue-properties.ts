/**
 * Reads the properties of one queue. What Azure would refuse is refused here too, naming queue and property, so that a
 * topology that starts locally also deploys.
 */
import { parseDuration } from './duration.js';
import type { QueueSettings } from './queue-settings.js';

/** Properties as they stand in a file, by their names in camel case. */
export type RawProperties = Readonly<Record<string, unknown>>;

type Draft = { -readonly [Key in keyof QueueSettings]: QueueSettings[Key] };
type Reader = (draft: Draft, value: unknown) => string | undefined;

const megabyte = 1024 * 1024;
const seconds = 1000;
const minutes = 60 * seconds;
const days = 24 * 60 * minutes;
const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,258}[A-Za-z0-9])?$/;

/** The service's own defaults. */
const defaults: Omit<QueueSettings, 'name'> = {
  lockDurationMs: 1 * minutes,
  maxDeliveryCount: 10,
  defaultTimeToLiveMs: Infinity,
  deadLetterOnExpiration: false,
  duplicateWindowMs: 0,
  maxSizeBytes: 1024 * megabyte,
  forwardTo: undefined,
  forwardDeadLettersTo: undefined,
};

function duration(set: (draft: Draft, ms: number) => void, from: number, to: number): Reader {
  return (draft, value) => {
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    if (ms === undefined || ms < from || ms > to) {
      return `must be an ISO 8601 duration from ${from / seconds} s${to === Infinity ? '' : ` to ${to / seconds} s`}`;
    }
    set(draft, ms);
    return undefined;
  };
}

function whole(set: (draft: Draft, count: number) => void, from: number, to: number): Reader {
  return (draft, value) => {
    const isInRange = typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
    if (!isInRange) return `must be a whole number from ${from} to ${to}`;
    set(draft, value);
    return undefined;
  };
}

function flag(set: (draft: Draft, isOn: boolean) => void): Reader {
  return (draft, value) => {
    if (typeof value !== 'boolean') return 'must be true or false';
    set(draft, value);
    return undefined;
  };
}

function queueName(set: (draft: Draft, name: string | undefined) => void): Reader {
  return (draft, value) => {
    if (typeof value !== 'string') return 'must be the name of a queue';
    set(draft, value === '' ? undefined : value);
    return undefined;
  };
}

/** The sizes of a queue in the standard tier. */
const sizesInMegabytes = [1024, 2048, 3072, 4096, 5120];

function size(draft: Draft, value: unknown): string | undefined {
  const chosen = sizesInMegabytes.find((known) => known === value);
  if (chosen === undefined) return `must be one of ${sizesInMegabytes.join(', ')}`;
  draft.maxSizeBytes = chosen * megabyte;
  return undefined;
}

/** A feature that may be named as long as it is off. */
function refused(feature: string): Reader {
  return (_draft, value) =>
    value === false
      ? undefined
      : `is not supported (${feature}); use the official Service Bus emulator or Azure, or set it to false`;
}

const readers: Readonly<Record<string, Reader>> = {
  lockDuration: duration((draft, ms) => (draft.lockDurationMs = ms), 5 * seconds, 5 * minutes),
  maxDeliveryCount: whole((draft, count) => (draft.maxDeliveryCount = count), 1, 2000),
  defaultMessageTimeToLive: duration((draft, ms) => (draft.defaultTimeToLiveMs = ms), 1 * seconds, Infinity),
  deadLetteringOnMessageExpiration: flag((draft, isOn) => (draft.deadLetterOnExpiration = isOn)),
  duplicateDetectionHistoryTimeWindow: duration((draft, ms) => (draft.duplicateWindowMs = ms), 20 * seconds, 7 * days),
  maxSizeInMegabytes: size,
  forwardTo: queueName((draft, name) => (draft.forwardTo = name)),
  forwardDeadLetteredMessagesTo: queueName((draft, name) => (draft.forwardDeadLettersTo = name)),
  requiresDuplicateDetection: flag(() => undefined),
  requiresSession: refused('sessions'),
  enablePartitioning: refused('partitioned queues'),
};

const defaultDuplicateWindowMs = 10 * minutes;

/** The settings of one queue; adds to `problems` what is wrong with them. */
export function readQueue(name: unknown, properties: RawProperties, problems: string[]): QueueSettings {
  const isName = typeof name === 'string' && namePattern.test(name);
  if (!isName) problems.push(`queue ${JSON.stringify(name)}: name must be 1 to 260 letters, digits or . - _ /`);
  const draft: Draft = { ...defaults, name: String(name), duplicateWindowMs: defaultDuplicateWindowMs };
  for (const [property, value] of Object.entries(properties)) {
    const reader = Object.hasOwn(readers, property) ? readers[property] : undefined;
    const problem = reader === undefined ? `is not known; known are ${knownProperties()}` : reader(draft, value);
    if (problem !== undefined) problems.push(`queue ${String(name)}: ${property} ${problem}`);
  }
  if (properties['requiresDuplicateDetection'] !== true) draft.duplicateWindowMs = 0;
  return draft;
}

function knownProperties(): string {
  return Object.keys(readers).join(', ');
}
