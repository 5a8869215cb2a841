/** The databases and containers in memory. */
import type { Container } from './container.js';
import { createContainer } from './container.js';
import type { ContainerDefinition } from './definition.js';

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
const CONTAINER_RID_LENGTH = 8;

/** Resource ids are base64 with '-' for '/'. */
function ridText(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('/', '-');
}

function ridBytes(rid: string): Buffer {
  return Buffer.from(rid.replaceAll('-', '/'), 'base64');
}

/** Creates an empty catalog whose containers have this many physical partitions. */
export function createCatalog(physicalPartitions: number): Catalog {
  const databases = new Map<string, MutableDatabase>();
  let count = 0;

  const addDatabase = (name: string): MutableDatabase => {
    const bytes = Buffer.alloc(DATABASE_RID_LENGTH);
    count += 1;
    bytes.writeUInt32LE(count);
    const database: MutableDatabase = { name, rid: ridText(bytes), containers: new Map() };
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
      const database = databases.get(definition.database) ?? addDatabase(definition.database);
      const bytes = Buffer.alloc(CONTAINER_RID_LENGTH);
      ridBytes(database.rid).copy(bytes);
      count += 1;
      bytes.writeUInt32LE(count, DATABASE_RID_LENGTH);
      bytes[DATABASE_RID_LENGTH] = (bytes[DATABASE_RID_LENGTH] ?? 0) | 0x80;
      const container = createContainer(definition, ridText(bytes), physicalPartitions);
      database.containers.set(definition.name, container);
      return container;
    },
    dropContainer: (database, name) => {
      databases.get(database)?.containers.delete(name);
    },
  };
}
