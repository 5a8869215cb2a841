/** Ports that remember what they were given. */
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type {
  EventFields,
  Orchestrations,
  OutgoingMessage,
  QueueSender,
  Telemetry,
} from '../../functions/state/ports.js';

/** Telemetry that keeps what it was told. */
export interface RecordingTelemetry extends Telemetry {
  readonly events: readonly { readonly name: string; readonly fields: EventFields | undefined }[];
  readonly alerts: readonly { readonly name: string; readonly fields: EventFields | undefined }[];
  /** How often an event or alert of this name came. */
  count(name: string): number;
}

/** Creates telemetry that remembers. */
export function createRecordingTelemetry(): RecordingTelemetry {
  const events: { name: string; fields: EventFields | undefined }[] = [];
  const alerts: { name: string; fields: EventFields | undefined }[] = [];
  return {
    events,
    alerts,
    event: (name, fields) => {
      events.push({ name, fields });
    },
    alert: (name, fields) => {
      alerts.push({ name, fields });
    },
    count: (name) => [...events, ...alerts].filter((entry) => entry.name === name).length,
  };
}

/** A message that was sent, and where. */
export interface SentMessage extends OutgoingMessage {
  readonly queue: string;
}

/** A sender that keeps what it was given, like queues with duplicate detection and an endless window. */
export interface RecordingSender extends QueueSender {
  /** Every send that succeeded, repeats included. */
  readonly sent: readonly SentMessage[];
  /** What the queue holds after duplicate detection. */
  queued(queue: string): readonly SentMessage[];
  /** Makes sends to the queues that match fail, until called again with `undefined`. */
  fail(how: 'transient' | 'permanent' | undefined, matches?: (queue: string) => boolean): void;
}

/** Creates a sender that remembers. */
export function createRecordingSender(): RecordingSender {
  const sent: SentMessage[] = [];
  let failure: { how: 'transient' | 'permanent'; matches: (queue: string) => boolean } | undefined;
  return {
    sent,
    queued: (queue) => {
      const ids = new Set<string>();
      return sent.filter((message) => {
        const keepsAll = queue.endsWith('-dead-letter'); // no duplicate detection on these
        const isNew = message.queue === queue && (keepsAll || !ids.has(message.messageId));
        if (isNew) ids.add(message.messageId);
        return isNew;
      });
    },
    fail: (how, matches = () => true) => {
      failure = how === undefined ? undefined : { how, matches };
    },
    send: (queue, message) => {
      if (failure?.matches(queue)) {
        const { how } = failure;
        const error = how === 'transient' ? new TransientError('no broker') : new PermanentError('Gone', 'no queue');
        return Promise.reject(error);
      }
      sent.push({ ...message, queue });
      return Promise.resolve();
    },
  };
}

/** A runtime that remembers what was started and raised. */
export interface RecordingOrchestrations extends Orchestrations {
  readonly started: readonly string[];
  readonly raised: readonly { readonly instanceId: string; readonly eventName: string; readonly payload: unknown }[];
  /** Every call, by name and instance id. */
  readonly calls: readonly string[];
  /** How the next starts end. */
  answerStarts(how: 'started' | 'refused' | 'lostAcknowledgement' | 'unavailable'): void;
}

/** Creates a runtime that remembers; an instance is known once it was started. */
export function createRecordingOrchestrations(): RecordingOrchestrations {
  const started: string[] = [];
  const raised: { instanceId: string; eventName: string; payload: unknown }[] = [];
  const calls: string[] = [];
  let answer: Parameters<RecordingOrchestrations['answerStarts']>[0] = 'started';
  return {
    started,
    raised,
    calls,
    answerStarts: (how) => {
      answer = how;
    },
    start: (instanceId) => {
      calls.push(`start ${instanceId}`);
      if (answer === 'refused') return Promise.resolve('refused');
      if (answer !== 'unavailable') started.push(instanceId);
      if (answer !== 'started') return Promise.reject(new TransientError('outcome of the start unknown'));
      return Promise.resolve('started');
    },
    instanceState: (instanceId) => {
      calls.push(`instanceState ${instanceId}`);
      return Promise.resolve(started.includes(instanceId) ? 'underWay' : 'unknown');
    },
    terminate: (instanceId) => {
      calls.push(`terminate ${instanceId}`);
      return Promise.resolve();
    },
    purgeFinished: (startedBefore) => {
      calls.push(`purgeFinished ${startedBefore}`);
      return Promise.resolve(0);
    },
    raiseEvent: (instanceId, eventName, payload) => {
      calls.push(`raiseEvent ${instanceId}`);
      if (!started.includes(instanceId)) return Promise.resolve('unknown');
      raised.push({ instanceId, eventName, payload });
      return Promise.resolve('raised');
    },
  };
}
