/**
 * What the simulated remote services remember: one entry for each order and service, so that a test can count effects.
 *
 * Invariants
 * L1 An idempotency key has one effect, however often it is asked for.
 * L2 A call with a lower fencing token than one seen is refused.
 * L3 An undo leaves a tombstone: an effect that arrives after its undo is refused (T73).
 * L4 A refusal is remembered: its key has no effect later, whatever is asked for under it.
 */

/** One order at one remote service. */
export interface LedgerEntry {
  readonly id: string;
  readonly orderId: string;
  readonly service: string;
  readonly highestToken: number;
  readonly effect: { readonly key: string; readonly reference: string; readonly token: number } | null;
  readonly undo: { readonly key: string; readonly token: number } | null;
  /** Other keys under which an effect was asked for: each is a second effect, which must never happen (T28). */
  readonly furtherKeys: readonly string[];
  /** Keys of effects that were refused; absent: none. */
  readonly refusedKeys?: readonly string[];
}

/** An entry with the version it was read at. */
export interface StoredEntry {
  readonly entry: LedgerEntry;
  readonly etag: string;
}

/** Stored entries. `put` answers false when the entry has changed since it was read (or exists, without `etag`). */
export interface LedgerStore {
  get(orderId: string, service: string): Promise<StoredEntry | undefined>;
  put(entry: LedgerEntry, etag: string | undefined): Promise<boolean>;
}

/** A call as the ledger sees it. */
export interface LedgerCall {
  readonly orderId: string;
  readonly service: string;
  /** `refuse`: the service says no to an effect. */
  readonly action: 'do' | 'undo' | 'refuse';
  readonly key: string;
  readonly token: number;
}

/** How the ledger answers a call. */
export type LedgerAnswer =
  | { readonly kind: 'done'; readonly reference: string }
  | { readonly kind: 'staleToken' }
  | { readonly kind: 'undone' }
  | { readonly kind: 'refused' };

/** Id of an entry. */
export function ledgerEntryId(orderId: string, service: string): string {
  return `${orderId}.${service}`;
}

/** Records the call's effect, or its refusal, once and answers it. */
export async function recordEffect(store: LedgerStore, call: LedgerCall): Promise<LedgerAnswer> {
  const isNew = call.action === 'do' && (await store.put(effectOf(undefined, call), undefined));
  if (isNew) return firstAnswer(call);
  for (;;) {
    const answer = await answerStored(await store.get(call.orderId, call.service), call, store);
    if (answer !== 'changedMeanwhile') return answer;
  }
}

async function answerStored(
  seen: StoredEntry | undefined,
  call: LedgerCall,
  store: LedgerStore,
): Promise<LedgerAnswer | 'changedMeanwhile'> {
  const answer = known(seen?.entry, call);
  if (answer === undefined) {
    return (await store.put(effectOf(seen?.entry, call), seen?.etag)) ? firstAnswer(call) : 'changedMeanwhile';
  }
  // L2 holds for repeats too: their higher token is stored before they are answered.
  const isTokenStored = seen === undefined || call.token <= seen.entry.highestToken;
  if (isTokenStored) return answer;
  return (await store.put({ ...seen.entry, highestToken: call.token }, seen.etag)) ? answer : 'changedMeanwhile';
}

function firstAnswer(call: LedgerCall): LedgerAnswer {
  return call.action === 'refuse' ? { kind: 'refused' } : done(call);
}

function done(call: LedgerCall): LedgerAnswer {
  return { kind: 'done', reference: referenceOf(call) };
}

function known(entry: LedgerEntry | undefined, call: LedgerCall): LedgerAnswer | undefined {
  if (entry === undefined) return undefined;
  if (call.token < entry.highestToken) return { kind: 'staleToken' }; // L2
  if (call.action !== 'undo' && entry.undo !== null) return { kind: 'undone' }; // L3
  if (entry.refusedKeys?.includes(call.key) === true) return { kind: 'refused' }; // L4
  const keys = [entry.effect?.key, entry.undo?.key, ...entry.furtherKeys];
  return keys.includes(call.key) ? done(call) : undefined; // L1
}

function effectOf(entry: LedgerEntry | undefined, call: LedgerCall): LedgerEntry {
  const { orderId, service, key, token } = call;
  const id = ledgerEntryId(orderId, service);
  const base = entry ?? { id, orderId, service, effect: null, undo: null, furtherKeys: [], refusedKeys: [] };
  if (call.action === 'refuse') {
    return { ...base, highestToken: token, refusedKeys: [...(base.refusedKeys ?? []), key] };
  }
  const isFurther = (call.action === 'do' ? base.effect : base.undo) !== null;
  if (isFurther) return { ...base, highestToken: token, furtherKeys: [...base.furtherKeys, key] };
  return call.action === 'do'
    ? { ...base, highestToken: token, effect: { key, token, reference: referenceOf(call) } }
    : { ...base, highestToken: token, undo: { key, token } };
}

function referenceOf({ service, key }: LedgerCall): string {
  return `${service}-${key}`;
}
