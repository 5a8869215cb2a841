/**
 * The journal records of the task hub, one JSON text each.
 *
 * Invariants
 * J-a A record is absolute: a whole instance, or a change bound to the execution and revision before it (D2), so that
 *     replaying it over a newer snapshot does nothing.
 */
import {
  addToInbox,
  applyControl,
  applyTurn,
  type Instance,
  type InstanceState,
  type RuntimeStatus,
  type TurnChange,
} from './instance.js';
import type { HistoryEvent } from './history.js';

/** Last runs of a timer trigger. */
export interface TimerStatus {
  readonly last: string;
  readonly next: string;
  readonly lastUpdated: string;
}

/** Keys of this host. */
export interface HostKeys {
  readonly master: string;
  readonly host: string;
  readonly durableTask: string;
}

/** A change of one instance: `i` names it, `x` its execution, `v` the revision it leads to. */
interface Change {
  readonly i: string;
  readonly x: string;
  readonly v: number;
}

export type JournalRecord =
  | { readonly k: 'instance'; readonly state: InstanceState }
  | ({ readonly k: 'inbox'; readonly event: HistoryEvent } & Change)
  | ({ readonly k: 'control'; readonly event: HistoryEvent; readonly status: RuntimeStatus } & Change)
  | ({ readonly k: 'turn'; readonly change: TurnChange } & Change)
  | { readonly k: 'purge'; readonly i: string }
  | { readonly k: 'timer'; readonly name: string; readonly status: TimerStatus }
  | { readonly k: 'keys'; readonly keys: HostKeys };

/** The records that change an instance that is there. */
export type StoredChange = Extract<JournalRecord, { readonly k: 'inbox' | 'control' | 'turn' }>;

/** The stored bytes of a record. */
export function encodeRecord(record: JournalRecord): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/** The record in stored bytes. */
export function decodeRecord(bytes: Buffer): JournalRecord {
  return JSON.parse(bytes.toString()) as JournalRecord;
}

/** Applies a stored change when the instance is at the revision before it; says whether it did. */
export function applyStoredChange(instance: Instance, record: StoredChange): boolean {
  if (instance.executionId !== record.x || instance.revision + 1 !== record.v) return false; // J-a
  switch (record.k) {
    case 'inbox':
      addToInbox(instance, record.event);
      return true;
    case 'control':
      applyControl(instance, record.event, record.status);
      return true;
    case 'turn':
      applyTurn(instance, record.change);
      return true;
  }
}
