/** Applies the journal's records to the catalog: at start, and for each change while running. */
import type { JsonObject } from '../query/values.js';
import { InvalidTopologyError } from '../topology.js';
import type { Catalog } from './catalog.js';
import type { Container } from './container.js';
import type { ContainerDefinition } from './definition.js';
import { readDefinition } from './definition.js';
import { partitionKeyOf } from './partition-key.js';
import type { Change, StoreRecord } from './records.js';
import { expiryOf } from './time-to-live.js';

function textOf(content: JsonObject, name: string): string {
  const value = content[name];
  return typeof value === 'string' ? value : '';
}

function applyPut(container: Container, change: Extract<Change, { kind: 'put' }>, content: JsonObject): void {
  const { definition } = container;
  const timestamp = Number(content['_ts']);
  const place = {
    id: textOf(content, 'id'),
    partitionKey: partitionKeyOf(content, definition.partitionKeyPath),
    sequence: change.sequence,
  };
  const version = {
    body: change.body,
    etag: textOf(content, '_etag'),
    lsn: change.lsn,
    timestamp,
    expiresAt: expiryOf(content['ttl'], definition.defaultTtl, timestamp),
  };
  container.put(place, version, content);
}

/** Applies one change to its container. */
export function applyChange(container: Container, change: Change): void {
  container.counters.raise(change.lsn, change.kind === 'put' ? change.sequence : 0);
  if (change.kind === 'remove') container.remove(change.partitionKey, change.id, change.lsn);
  else applyPut(container, change, JSON.parse(change.body) as JsonObject);
}

function checkSamePartitionKey(known: Container, stored: ContainerDefinition): void {
  const { name, partitionKeyText } = known.definition;
  if (stored.partitionKeyText === partitionKeyText) return;
  throw new InvalidTopologyError(
    `container ${name}: partitionKey is ${partitionKeyText}, but the stored documents are partitioned by ` +
      `${stored.partitionKeyText}; remove the data directory to start anew.`,
  );
}

function replayContainer(catalog: Catalog, record: Extract<StoreRecord, { kind: 'container' }>): void {
  // What was accepted once is not checked again: an earlier version may have known fewer rules.
  const stored = readDefinition({ database: record.database, properties: record.definition, nameProperty: 'id' }, []);
  const known = catalog.find(record.database, stored.name);
  if (known !== undefined) checkSamePartitionKey(known, stored);
  (known ?? catalog.addContainer(stored)).counters.raise(record.lsn, record.sequence);
}

/** Applies one stored record. A container of the topology keeps the topology's definition. */
export function replayRecord(catalog: Catalog, record: StoreRecord): void {
  switch (record.kind) {
    case 'database':
      if (!catalog.databases.has(record.database)) catalog.addDatabase(record.database);
      break;
    case 'dropDatabase':
      catalog.dropDatabase(record.database);
      break;
    case 'container':
      replayContainer(catalog, record);
      break;
    case 'dropContainer':
      catalog.dropContainer(record.database, record.container);
      break;
    case 'changes': {
      const container = catalog.find(record.database, record.container);
      if (container !== undefined) for (const change of record.changes) applyChange(container, change);
    }
  }
}
