/** Reads the part `cosmosDb` of infra/topology.json. */
import type { Json } from './query/values.js';
import { isArray, isObject } from './query/values.js';
import type { ContainerDefinition } from './store/definition.js';
import { checkResourceName, InvalidDefinitionError, readDefinition } from './store/definition.js';

export interface Topology {
  readonly database: string;
  readonly containers: readonly ContainerDefinition[];
}

/** A topology the server cannot start with; the message names the container and the property. */
export class InvalidTopologyError extends Error {
  constructor(message: string) {
    super(`infra/topology.json: ${message}`);
    this.name = 'InvalidTopologyError';
  }
}

function naming<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidDefinitionError) throw new InvalidTopologyError(`${place}: ${error.message}.`);
    throw error;
  }
}

function readContainer(database: string, entry: Json, index: number): ContainerDefinition {
  if (!isObject(entry)) throw new InvalidTopologyError(`cosmosDb.containers[${index}] is no object.`);
  const name = typeof entry['name'] === 'string' ? entry['name'] : `cosmosDb.containers[${index}]`;
  return naming(`container ${name}`, () => readDefinition(database, entry, 'name'));
}

/** Checks and reads a parsed topology. */
export function readTopology(topology: unknown): Topology {
  const section = isObject(topology as Json) ? (topology as { readonly cosmosDb?: Json }).cosmosDb : undefined;
  if (!isObject(section)) throw new InvalidTopologyError('the object cosmosDb is missing.');
  const database = naming('cosmosDb', () => checkResourceName(section['database'], 'database'));
  const list = section['containers'];
  if (!isArray(list)) throw new InvalidTopologyError('cosmosDb.containers is no array.');
  const containers = list.map((entry, index) => readContainer(database, entry, index));
  const names = containers.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new InvalidTopologyError(`container ${repeated}: name occurs twice.`);
  return { database, containers };
}
