/**
 * All databases and containers with their journal.
 *
 * Invariants
 * D1 A change is in memory and in the journal's queue in the same turn; nobody sees half of it.
 * D2 `settled` resolves once everything changed so far is durable. No answer leaves before that (http-handler.ts).
 * D3 After a failed append the store refuses everything: memory may be ahead of the journal.
 */
import { openJournal, type Journal } from '../../journal/index.js';
import type { ConsistencyLevel } from '../consistency.js';
import type { Topology } from '../topology.js';
import { serviceUnavailable } from '../wire-errors.js';
import type { Catalog, Database } from './catalog.js';
import { createCatalog } from './catalog.js';
import type { Container } from './container.js';
import type { ContainerDefinition } from './definition.js';
import type { Change, StoreRecord } from './records.js';
import { decodeRecord, encodeRecord } from './records.js';
import { applyChange, replayRecord } from './replay.js';
import { containerRecord, snapshotOf } from './snapshot.js';

export interface Store {
  /** What the account promises of its reads. */
  readonly consistency: ConsistencyLevel;
  readonly databases: ReadonlyMap<string, Database>;
  createDatabase(name: string): Database;
  dropDatabase(name: string): void;
  createContainer(definition: ContainerDefinition): Container;
  dropContainer(database: string, name: string): void;
  /** Applies changes to one container, all or none. */
  apply(container: Container, changes: readonly Change[]): void;
  /** D2. Undefined when nothing is pending; rejects for good after a failed append (D3). */
  settled(): Promise<void> | undefined;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly dataDirectory: string;
  readonly fsync: 'never' | 'always';
  readonly topology: Topology;
  readonly physicalPartitions: number;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

interface Writer {
  append(record: StoreRecord): void;
  settled(): Promise<void> | undefined;
}

function createWriter(append: (record: Buffer) => Promise<void>): Writer {
  let pending: Promise<void> | undefined;
  let failed: Promise<void> | undefined;
  return {
    append(record) {
      const mine = append(encodeRecord(record)).then(
        () => {
          if (pending === mine) pending = undefined;
        },
        (error: unknown) => {
          failed = Promise.reject(serviceUnavailable(`The journal cannot be written: ${String(error)}`));
          failed.catch(() => undefined);
          throw error;
        },
      );
      mine.catch(() => undefined);
      pending = mine;
    },
    settled: () => failed ?? pending,
  };
}

function createTopology(catalog: Catalog, topology: Topology): void {
  if (!catalog.databases.has(topology.database)) catalog.addDatabase(topology.database);
  for (const definition of topology.containers) {
    if (catalog.find(definition.database, definition.name) === undefined) catalog.addContainer(definition);
  }
}

function openCatalogJournal(catalog: Catalog, { dataDirectory, fsync, onFailure }: StoreOptions): Promise<Journal> {
  return openJournal({
    directory: dataDirectory,
    fsync,
    onFailure,
    replay: (record) => {
      replayRecord(catalog, decodeRecord(record));
    },
    snapshot: () => snapshotOf(catalog),
  });
}

/** Opens the store: the containers of the topology with what the journal holds. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { topology } = options;
  const catalog = createCatalog(options.physicalPartitions);
  createTopology(catalog, topology);
  const journal = await openCatalogJournal(catalog, options);
  const writer = createWriter((record) => journal.append(record));
  createTopology(catalog, topology);
  for (const { database, name } of topology.containers) {
    const container = catalog.find(database, name);
    if (container !== undefined) writer.append(containerRecord(container));
  }
  await writer.settled();
  return {
    consistency: topology.consistency,
    databases: catalog.databases,
    settled: () => writer.settled(),
    close: () => journal.close(),
    createDatabase(name) {
      writer.append({ kind: 'database', database: name });
      return catalog.addDatabase(name);
    },
    dropDatabase(name) {
      catalog.dropDatabase(name);
      writer.append({ kind: 'dropDatabase', database: name });
    },
    createContainer(definition) {
      const container = catalog.addContainer(definition);
      writer.append(containerRecord(container));
      return container;
    },
    dropContainer(database, name) {
      catalog.dropContainer(database, name);
      writer.append({ kind: 'dropContainer', database, container: name });
    },
    apply(container, changes) {
      for (const change of changes) applyChange(container, change);
      const { database, name } = container.definition;
      writer.append({ kind: 'changes', database, container: name, changes });
    },
  };
}
