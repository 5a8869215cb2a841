/**
 * One container: its documents, its physical partitions and their indexes, in memory.
 *
 * Invariants
 * S1 A document is found under its partition key and id; no two documents share both.
 * S2 A document lives in the one physical partition its key hashes to.
 * S3 Every write takes a higher log sequence number than all before, also after a restart.
 */
import type { JsonObject } from '../query/values.js';
import type { ContainerDefinition } from './definition.js';
import type { DocumentVersion, StoredDocument } from './document.js';
import { createKeySlots } from './key-slots.js';
import type { PartitionKeyValue } from './partition-key.js';
import { createPastVersions } from './past-versions.js';
import { partitionKeyText } from './partition-key.js';
import type { PhysicalPartition } from './physical-partitions.js';
import { createPhysicalPartitions } from './physical-partitions.js';

export interface Container {
  readonly definition: ContainerDefinition;
  readonly rid: string;
  readonly counters: WriteCounters;
  readonly partitions: readonly PhysicalPartition[];
  partitionOf(partitionKey: PartitionKeyValue): PhysicalPartition;
  find(partitionKey: PartitionKeyValue, id: string): StoredDocument | undefined;
  /** The document without the writes that are not visible yet; a change of what it returns changes nothing here. */
  findEarlier(
    partitionKey: PartitionKeyValue,
    id: string,
    isVisible: (write: { readonly at: number; readonly lsn: number }) => boolean,
  ): StoredDocument | undefined;
  documents(): Iterable<StoredDocument>;
  /** Stores a new document or a new version of one; `content` is the parsed body. */
  put(place: DocumentPlace, version: DocumentVersion, content: JsonObject): void;
  remove(partitionKey: PartitionKeyValue, id: string, lsn: number): void;
  /** The slot of `StoredDocument.keys` that holds the values at a path. */
  slotOf(path: readonly string[]): number;
}

/** Where a document belongs. */
export interface DocumentPlace {
  readonly partitionKey: PartitionKeyValue;
  readonly id: string;
  readonly sequence: number;
}

/** The numbers that writes take (S3) and new documents get. */
export interface WriteCounters {
  lsn(): number;
  takeLsn(): number;
  sequence(): number;
  takeSequence(): number;
  /** Raises both to what a stored record has used. */
  raise(lsn: number, sequence: number): void;
}

function createWriteCounters(): WriteCounters {
  let lsn = 0;
  let sequence = 0;
  return {
    lsn: () => lsn,
    takeLsn: () => (lsn += 1),
    sequence: () => sequence,
    takeSequence: () => (sequence += 1),
    raise: (seenLsn, seenSequence) => {
      lsn = Math.max(lsn, seenLsn);
      sequence = Math.max(sequence, seenSequence);
    },
  };
}

/** Names a document by S1; where the id is the partition key it is the id alone. */
function createKeyOf({
  partitionKeyPath,
}: ContainerDefinition): (partitionKey: PartitionKeyValue, id: string) => string {
  const idIsPartitionKey = partitionKeyPath.length === 1 && partitionKeyPath[0] === 'id';
  return (partitionKey, id) =>
    idIsPartitionKey && partitionKey === id ? id : `${partitionKeyText(partitionKey)}\n${id}`;
}

/** Creates an empty container. */
export function createContainer(definition: ContainerDefinition, rid: string, partitionCount: number): Container {
  const byKey = new Map<string, StoredDocument>();
  const documents = (): Iterable<StoredDocument> => byKey.values();
  const keyOf = createKeyOf(definition);
  const slots = createKeySlots(definition.knownPaths, documents);
  const partitions = createPhysicalPartitions(partitionCount, documents);
  const past = createPastVersions();
  return {
    definition,
    rid,
    documents,
    counters: createWriteCounters(),
    partitions: partitions.all,
    partitionOf: (partitionKey) => partitions.of(partitionKey),
    slotOf: (path) => slots.slotOf(path),
    find: (partitionKey, id) => byKey.get(keyOf(partitionKey, id)),
    findEarlier: (partitionKey, id, isVisible) => {
      const key = keyOf(partitionKey, id);
      return past.find(key, byKey.get(key), isVisible);
    },
    put(place, version, content) {
      const keys = slots.keysOf(content);
      const size = Buffer.byteLength(version.body);
      const key = keyOf(place.partitionKey, place.id);
      const known = byKey.get(key);
      past.note(key, version.lsn, known);
      if (known?.sequence === place.sequence) {
        Object.assign(known, version, { size });
        partitions.holding(known).indexes.rekey(known, keys);
        return;
      }
      if (known !== undefined) partitions.holding(known).indexes.remove(known);
      const partition = partitions.of(place.partitionKey);
      const document: StoredDocument = { ...place, partition: partition.id, ...version, size, keys };
      byKey.set(key, document);
      partition.indexes.add(document);
    },
    remove(partitionKey, id, lsn) {
      const key = keyOf(partitionKey, id);
      const document = byKey.get(key);
      past.note(key, lsn, document);
      if (document === undefined) return;
      byKey.delete(key);
      partitions.holding(document).indexes.remove(document);
    },
  };
}
