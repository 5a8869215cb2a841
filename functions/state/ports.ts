/** The ports through which the roles reach the world. `functions/azure` implements them; contract tests hold for each. */
import type { ZodType } from 'zod';
import type { Order } from '../contracts/order.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Rejection } from '../contracts/rejection.js';
import type { Admission, IntakePause } from './admission.js';
import type { ProcessState, StateRecord } from './state-record.js';

/** Tells the time; tests move it. */
export interface Clock {
  now(): Timestamp;
}

/** A record together with the version (ETag) it was read or written at. */
export interface VersionedRecord {
  readonly record: StateRecord;
  readonly etag: string;
}

/** A page of records, and the documents in it that this build can't read. */
export interface RecordPage {
  readonly records: readonly VersionedRecord[];
  readonly unreadable: readonly UnreadableRecord[];
  /** Request units the page cost, as the service reports them (R107). */
  readonly requestCharge: number;
  /** The time by which the scan is ordered, of the last document of the page; a scan without an order has none. */
  readonly last?: Timestamp | undefined;
}

/** A document that this build can't read as a state record: newer than the build, or malformed. */
export interface UnreadableRecord {
  readonly kind: 'newer' | 'malformed';
  readonly id: string;
  readonly problem: string;
}

/** What a conditional write ended in. */
export type ReplaceResult =
  | { readonly kind: 'replaced'; readonly versioned: VersionedRecord; readonly requestCharge: number }
  | { readonly kind: 'conflict' };

/** Unowned records of one state and, for new work, of one priority. */
export interface PendingQuery {
  readonly state: ProcessState;
  readonly priority?: StateRecord['priority'];
  /** Only records that may start by now. */
  readonly notBefore: Timestamp;
  readonly pageSize: number;
}

/** Owned records of one state whose time is up, the oldest first. */
export interface ExpiredQuery {
  readonly state: ProcessState;
  readonly completeBefore: Timestamp;
  /** Lower bound of the window; absent: none (T59). */
  readonly completeFrom?: Timestamp;
  readonly pageSize: number;
}

/** Finished records whose oldest status waits since before `since` and, if that is given, not since before `from`. */
export interface UnsentQuery {
  readonly since: Timestamp;
  readonly from?: Timestamp;
  readonly pageSize: number;
}

/**
 * The state store: the single source of progress (R41). Every change is one conditional write (I1).
 * Throws {@link TransientError} when the store can't answer now.
 */
export interface StateStore {
  /** Creates the record; an existing one is left alone. */
  createIfAbsent(record: StateRecord): Promise<'created' | 'exists'>;
  /** The last known version of a record if it is at hand, without asking the store. */
  remembered(orderId: string): VersionedRecord | undefined;
  /** The last known version of a record: perhaps a stale one from memory, which only costs a conflict. */
  get(orderId: string): Promise<VersionedRecord | undefined>;
  /** The stored version of a record. */
  getLatest(orderId: string): Promise<VersionedRecord | undefined>;
  /** Writes the record if the stored version still has this ETag. */
  replaceIfUnchanged(record: StateRecord, etag: string): Promise<ReplaceResult>;
  /** How many records are in this state, about. */
  count(state: ProcessState): Promise<number>;
  /** How many records in this state are owned by an attempt, about. */
  countOwned(state: ProcessState): Promise<number>;
  /** How many records are owned by an attempt that has dispatched nothing yet, about. */
  countNotBegun(): Promise<number>;
  /** Unowned records that may start, in pages, the longest waiting first. */
  pagePending(query: PendingQuery): AsyncIterable<RecordPage>;
  /** Owned records whose completeBy has passed, in pages. */
  pageExpired(query: ExpiredQuery): AsyncIterable<RecordPage>;
  /** Owned records of one state without a completeBy, unchanged since `unchangedSince`, in pages (C2, T1). */
  pageWithoutDeadline(state: ProcessState, unchangedSince: Timestamp, pageSize: number): AsyncIterable<RecordPage>;
  /**
   * Every document that was written at `since` or later, in pages, the longest unchanged first. `last` is the time of the
   * last write, to the second.
   */
  pageChanged(since: Timestamp, pageSize: number): AsyncIterable<RecordPage>;
  /** Records in a terminal state with a status that waits, in pages, the longest waiting first. */
  pageUnsent(query: UnsentQuery): AsyncIterable<RecordPage>;
}

/**
 * What a recurring job remembers from run to run, whichever process runs it. If it is lost, the job starts from the
 * beginning. Throws {@link TransientError} when the store can't answer now.
 */
export interface JobMemory {
  /** What the job remembers; `undefined` if nothing, or nothing of this form. */
  read<Memory>(job: string, form: ZodType<Memory>): Promise<Memory | undefined>;
  write(job: string, memory: object): Promise<void>;
}

/** Which orders may have expired, by the time of their deadline: derived, possibly incomplete or outdated (R108, T69). */
export interface RecoveryIndex {
  note(orderId: string, completeBy: Timestamp): Promise<void>;
  /** Ids of orders that had a deadline in this time, in groups. */
  due(from: Timestamp, until: Timestamp): AsyncIterable<readonly string[]>;
}

/** Where starter, submit and operator agree on intake. */
export interface AdmissionStore {
  readAdmission(): Promise<Admission | undefined>;
  writeAdmission(admission: Admission): Promise<void>;
  readPause(): Promise<IntakePause | undefined>;
  /** Replaces the operator's word by what `change` makes of the stored one; nobody else's word gets lost meanwhile. */
  changePause(change: (stored: IntakePause | undefined) => IntakePause): Promise<IntakePause>;
}

/** The orders database: what the customer ordered; an order never changes once stored. */
export interface OrdersDatabase {
  /** Stores the order if its id is free, and answers what is stored now. */
  createIfAbsent(order: Order): Promise<{ readonly created: boolean; readonly stored: Order }>;
  get(orderId: string): Promise<Order | undefined>;
}

/** A message to send. Ids are derived, so a repeat is dropped by duplicate detection. */
export interface OutgoingMessage {
  readonly messageId: string;
  /** Bytes are sent as they are, everything else as JSON. */
  readonly body: unknown;
  /** Of bytes; JSON says so itself. */
  readonly contentType?: string | undefined;
  readonly correlationId?: string;
  readonly timeToLiveMs?: number;
  readonly notBefore?: Timestamp;
  readonly applicationProperties?: Readonly<Record<string, string | number | boolean>>;
}

/** Sends to a queue. Throws {@link TransientError} or {@link PermanentError}. */
export interface QueueSender {
  send(queue: string, message: OutgoingMessage, signal?: AbortSignal): Promise<void>;
}

/** A message as it was received, as far as it must be preserved. */
export interface ReceivedMessage {
  readonly queue: string;
  /** The bytes as they came. */
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  /** The id that the sender chose: different messages may have the same one. */
  readonly messageId: string;
  readonly correlationId: string | undefined;
  /** Differs from message to message and is the same in each delivery of one: made of what the broker has set. */
  readonly brokerId: string;
  readonly deliveryCount: number;
  /** How often a delayed copy has taken the place of the message. */
  readonly redelivery: number;
  readonly applicationProperties: Readonly<Record<string, unknown>>;
}

/** Puts a refused message into the dead-letter queue of its queue, with the reason; then it may be completed (R75). */
export interface MessageRejector {
  reject(message: ReceivedMessage, rejection: Rejection): Promise<void>;
}

/** What the runtime says of an attempt. */
export type InstanceState =
  | 'unknown' // never started, or forgotten
  | 'underWay' // waiting to run, or running
  | 'timedOut' // ended by itself, because the time of its step was up
  | 'stopped'; // ended in any other way: failed, terminated, superseded

/** The runtime that runs attempts (R83). */
export interface Orchestrations {
  /** Starts the attempt. `refused`: definitely not started. Throws {@link TransientError} when that is unknown. */
  start(
    instanceId: string,
    input: { readonly orderId: string; readonly attempt: number },
  ): Promise<'started' | 'refused'>;
  /** What has become of the attempt. Throws {@link TransientError} when the runtime cannot tell. */
  instanceState(instanceId: string): Promise<InstanceState>;
  /** Asks the runtime to run the attempt no further. Best effort: the fence stops it anyway. */
  terminate(instanceId: string): Promise<void>;
  /** Forgets finished instances that were started before this time. Returns how many; throws {@link TransientError}. */
  purgeFinished(startedBefore: Timestamp): Promise<number>;
  /** Hands an event to a running instance; `unknown` when the runtime knows no such instance. */
  raiseEvent(instanceId: string, eventName: string, payload: unknown): Promise<'raised' | 'unknown'>;
}

/** Fields of an event: ids, states and counts, never an order's contents. */
export type EventFields = Readonly<Record<string, string | number | boolean | null>>;

/** What the system tells about itself (R58). Names and their meaning: functions/telemetry/events.ts; a test compares. */
export interface Telemetry {
  event(name: string, fields?: EventFields): void;
  /** Something an operator must see. */
  alert(name: string, fields?: EventFields): void;
}
