/**
 * What a container is made from, read from the topology or from a client's request. Everything that is wrong with it is
 * reported together, and what the service would refuse is refused here too.
 */
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';
import type { IndexingPolicy } from './indexing-policy.js';
import { pathSegments, readIndexingPolicy } from './indexing-policy.js';

export interface ContainerDefinition {
  readonly database: string;
  readonly name: string;
  readonly partitionKeyPath: readonly string[];
  /** The path as it was given, '/id' for example. */
  readonly partitionKeyText: string;
  readonly indexingPolicy: IndexingPolicy;
  /** Seconds; -1: items expire only by their own ttl; absent: nothing expires. */
  readonly defaultTtl?: number;
  /** Paths whose values are kept at hand for the indexes. */
  readonly knownPaths: readonly (readonly string[])[];
}

const MAX_NAME_LENGTH = 255;
const MAX_TTL_SECONDS = 0x7fffffff;
/** Letters, digits and underscores, as the service documents them; other characters in quotes. */
const PARTITION_KEY_PATH = /^(?:\/(?:\w+|"(?:[^"\\]|\\.)+"))+$/;

/** Databases and containers: up to 255 characters without those that would break a link. */
export function checkResourceName(name: Json | undefined, property: string, problems: string[]): string {
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH) {
    problems.push(`${property} is no text of 1 to ${MAX_NAME_LENGTH} characters`);
    return '';
  }
  if (/[/\\?#]/.test(name) || name.endsWith(' ')) {
    problems.push(`${property} holds one of / \\ ? # or ends with a space: ${JSON.stringify(name)}`);
  }
  return name;
}

function readPartitionKey(value: Json | undefined, problems: string[]): string {
  if (typeof value === 'string') return checkPartitionKeyPath(value, problems);
  const paths = isObject(value) ? value['paths'] : undefined;
  const [path] = isArray(paths) ? paths : [];
  if (!isArray(paths)) problems.push('partitionKey is neither a path nor an object with paths');
  else if (paths.length > 1)
    problems.push('partitionKey has several paths; hierarchical partition keys are not supported');
  else return checkPartitionKeyPath(path, problems);
  return '';
}

function checkPartitionKeyPath(path: Json | undefined, problems: string[]): string {
  if (typeof path === 'string' && PARTITION_KEY_PATH.test(path)) return path;
  problems.push(
    `partitionKey is no path like "/id": The partition key component definition path ${JSON.stringify(path)} could not be accepted. ` +
      'Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character',
  );
  return '';
}

function readDefaultTtl(value: Json | undefined, problems: string[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  if (isWhole && (value === -1 || (value > 0 && value <= MAX_TTL_SECONDS))) return value;
  problems.push(`defaultTtl is neither -1 nor a positive number of seconds: ${JSON.stringify(value)}`);
  return undefined;
}

const REFUSED_PROPERTIES: readonly string[] = [
  'uniqueKeyPolicy',
  'conflictResolutionPolicy',
  'changeFeedPolicy',
  'computedProperties',
  'clientEncryptionPolicy',
  'vectorEmbeddingPolicy',
  'fullTextPolicy',
];

function isSet(value: Json | undefined): boolean {
  return (
    value !== undefined &&
    value !== null &&
    !(isObject(value) && Object.values(value).every((entry) => isArray(entry) && entry.length === 0))
  );
}

/** Where a container's properties come from. */
export interface DefinitionSource {
  readonly database: string;
  /** In the form of the REST API. */
  readonly properties: JsonObject;
  /** The property with the container's name. */
  readonly nameProperty: 'id' | 'name';
}

/** Reads a container's properties; adds to `problems` what is wrong with them. */
export function readDefinition(source: DefinitionSource, problems: string[]): ContainerDefinition {
  const { database, properties, nameProperty } = source;
  const name = checkResourceName(properties[nameProperty], nameProperty, problems);
  for (const property of REFUSED_PROPERTIES) {
    if (isSet(properties[property])) problems.push(`${property} is not supported by the embedded Cosmos DB`);
  }
  const partitionKeyText = readPartitionKey(properties['partitionKey'], problems);
  const partitionKeyPath = pathSegments(partitionKeyText);
  const indexingPolicy = readIndexingPolicy(properties['indexingPolicy'] ?? {}, problems);
  const defaultTtl = readDefaultTtl(properties['defaultTtl'], problems);
  return {
    database,
    name,
    partitionKeyText,
    partitionKeyPath,
    indexingPolicy,
    knownPaths: [partitionKeyPath, ...indexingPolicy.namedPaths],
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
  };
}

/** The properties `readDefinition` reads back, for the journal. */
export function definitionJson(definition: ContainerDefinition): JsonObject {
  return {
    id: definition.name,
    partitionKey: definition.partitionKeyText,
    indexingPolicy: definition.indexingPolicy.json,
    ...(definition.defaultTtl === undefined ? {} : { defaultTtl: definition.defaultTtl }),
  };
}
