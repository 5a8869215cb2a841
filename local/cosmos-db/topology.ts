/** Reads the part `cosmosDb` of infra/topology.json. All problems are reported together, and the server does not start. */
import type { ConsistencyLevel } from './consistency.js';
import { CONSISTENCY_LEVELS, isConsistencyLevel } from './consistency.js';
import type { Json } from './query/values.js';
import { isArray, isObject } from './query/values.js';
import type { ContainerDefinition } from './store/definition.js';
import { checkResourceName, readDefinition } from './store/definition.js';

export interface Topology {
  readonly database: string;
  /** The account's default consistency level. */
  readonly consistency: ConsistencyLevel;
  readonly containers: readonly ContainerDefinition[];
}

/** A topology the server cannot start with; the message names the container and the property of each problem. */
export class InvalidTopologyError extends Error {
  constructor(message: string) {
    super(`infra/topology.json: ${message}`);
    this.name = 'InvalidTopologyError';
  }
}

function readContainer(
  database: string,
  entry: Json,
  index: number,
): { found: ContainerDefinition[]; wrong: string[] } {
  if (!isObject(entry)) return { found: [], wrong: [`cosmosDb.containers[${index}] is no object`] };
  const name = typeof entry['name'] === 'string' ? entry['name'] : `cosmosDb.containers[${index}]`;
  const problems: string[] = [];
  const definition = readDefinition({ database, properties: entry, nameProperty: 'name' }, problems);
  return { found: [definition], wrong: problems.map((problem) => `container ${name}: ${problem}`) };
}

function repeatedNames(containers: readonly ContainerDefinition[]): string[] {
  const names = containers.map(({ name }) => name);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [...repeated].map((name) => `container ${name}: name occurs twice`);
}

/** Checks and reads a parsed topology. */
export function readTopology(topology: unknown): Topology {
  const section = isObject(topology as Json) ? (topology as { readonly cosmosDb?: Json }).cosmosDb : undefined;
  if (!isObject(section)) throw new InvalidTopologyError('the object cosmosDb is missing.');
  const ofDatabase: string[] = [];
  const database = checkResourceName(section['database'], 'database', ofDatabase);
  const { consistency = 'Strong' } = section;
  const hasConsistency = isConsistencyLevel(consistency);
  const list = section['containers'];
  const read = (isArray(list) ? list : []).map((entry, index) => readContainer(database, entry, index));
  const containers = read.flatMap(({ found }) => found);
  const problems = [
    ...ofDatabase.map((problem) => `cosmosDb: ${problem}`),
    ...(hasConsistency ? [] : [`cosmosDb.consistency is none of ${CONSISTENCY_LEVELS.join(', ')}`]),
    ...(isArray(list) ? [] : ['cosmosDb.containers is no array']),
    ...read.flatMap(({ wrong }) => wrong),
    ...repeatedNames(containers),
  ];
  if (!hasConsistency || problems.length > 0) throw new InvalidTopologyError(`${problems.join('; ')}.`);
  return { database, consistency, containers };
}
