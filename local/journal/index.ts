/**
 * The append-only journal that the embedded broker, Cosmos DB and Functions host persist with.
 *
 * Invariants
 * J1 A record whose `append` has resolved survives `kill -9` of the process (and power loss when `fsync` is 'always').
 * J2 Records come back in the order of their `append` calls; a torn tail is cut off, never half-read.
 * J3 One append is atomic: it is replayed whole or not at all.
 * J4 Compaction never loses an acknowledged record. It needs *absolute* records: replaying one whose effect the snapshot
 *    already holds must change nothing.
 */

export { StorageError } from './types.js';
export type { Journal, JournalOptions } from './types.js';
export { openJournal } from './journal.js';
export { lockDirectory } from './lock.js';
export { emptyDirectories, ownDirectory } from './own-directory.js';
export { identityOf, isRunning } from './process-identity.js';
export type { ProcessIdentity } from './process-identity.js';
