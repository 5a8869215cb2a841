/** The present state as records, for the journal's compaction. */
import type { Catalog } from './catalog.js';
import type { Container } from './container.js';
import { definitionJson } from './definition.js';
import type { Change, StoreRecord } from './records.js';
import { encodeRecord } from './records.js';

const CHANGES_PER_RECORD = 64;

/** The record that creates a container with its counters. */
export function containerRecord(container: Container): StoreRecord {
  return {
    kind: 'container',
    database: container.definition.database,
    definition: definitionJson(container.definition),
    lsn: container.counters.lsn(),
    sequence: container.counters.sequence(),
  };
}

function* snapshotOfDocuments(container: Container): Iterable<Buffer> {
  const { database, name } = container.definition;
  let changes: Change[] = [];
  for (const { sequence, lsn, body } of container.documents()) {
    changes.push({ kind: 'put', sequence, lsn, body });
    if (changes.length < CHANGES_PER_RECORD) continue;
    yield encodeRecord({ kind: 'changes', database, container: name, changes });
    changes = [];
  }
  if (changes.length > 0) yield encodeRecord({ kind: 'changes', database, container: name, changes });
}

/** Everything there is, container by container. */
export function* snapshotOf(catalog: Catalog): Iterable<Buffer> {
  for (const database of catalog.databases.values()) {
    yield encodeRecord({ kind: 'database', database: database.name });
    for (const container of database.containers.values()) {
      yield encodeRecord(containerRecord(container));
      yield* snapshotOfDocuments(container);
    }
  }
}
