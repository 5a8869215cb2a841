/** The databases and containers in memory. */
import { createHash } from 'node:crypto';
import type { Container } from './container.js';
import { createContainer } from './container.js';
import type { ContainerDefinition } from './definition.js';
import { ridBytes, ridText } from './rid.js';

export interface Database {
  readonly name: string;
  readonly rid: string;
  readonly containers: ReadonlyMap<string, Container>;
}

export interface Catalog {
  readonly databases: ReadonlyMap<string, Database>;
  find(database: string, name: string): Container | undefined;
  addDatabase(name: string): Database;
  dropDatabase(name: string): void;
  addContainer(definition: ContainerDefinition): Container;
  dropContainer(database: string, name: string): void;
}

interface MutableDatabase extends Database {
  readonly containers: Map<string, Container>;
}

const DATABASE_RID_LENGTH = 4;
/** Tells a container from a user of the database. */
const CONTAINER_BIT = 0x80;

/**
 * The bytes of a name's id: the same in every run, because documents keep the `_rid` of their container, and clients
 * compare the two. A name whose bytes are taken gets the next free ones.
 */
function ridOf(name: string, parent: Buffer, isTaken: (rid: string) => boolean): string {
  for (let attempt = 0; ; attempt += 1) {
    const hash = createHash('sha256').update(`${attempt}\n${name}`).digest();
    const own = hash.subarray(0, DATABASE_RID_LENGTH);
    if (parent.length > 0) own[0] = (own[0] ?? 0) | CONTAINER_BIT;
    const rid = ridText(Buffer.concat([parent, own]));
    if (!isTaken(rid)) return rid;
  }
}

function hasRid(resources: Iterable<{ readonly rid: string }>, rid: string): boolean {
  return [...resources].some((resource) => resource.rid === rid);
}

/** Creates an empty catalog whose containers have this many physical partitions. */
export function createCatalog(physicalPartitions: number): Catalog {
  const databases = new Map<string, MutableDatabase>();

  const addDatabase = (name: string): MutableDatabase => {
    const rid = ridOf(name, Buffer.alloc(0), (candidate) => hasRid(databases.values(), candidate));
    const database: MutableDatabase = { name, rid, containers: new Map() };
    databases.set(name, database);
    return database;
  };

  return {
    databases,
    addDatabase,
    find: (database, name) => databases.get(database)?.containers.get(name),
    dropDatabase: (name) => {
      databases.delete(name);
    },
    addContainer(definition) {
      const { containers, rid: parent } = databases.get(definition.database) ?? addDatabase(definition.database);
      const rid = ridOf(definition.name, ridBytes(parent), (candidate) => hasRid(containers.values(), candidate));
      const container = createContainer(definition, rid, physicalPartitions);
      containers.set(definition.name, container);
      return container;
    },
    dropContainer: (database, name) => {
      databases.get(database)?.containers.delete(name);
    },
  };
}
