/** What a container is made from, read from the topology or from a client's request. */
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';
import type { IndexingPolicy } from './indexing-policy.js';
import { DEFAULT_POLICY, InvalidPolicyError, pathSegments, readIndexingPolicy } from './indexing-policy.js';

export interface ContainerDefinition {
  readonly database: string;
  readonly name: string;
  readonly partitionKeyPath: readonly string[];
  /** The path as it was given, '/id' for example. */
  readonly partitionKeyText: string;
  /** As it was given, for GET of the container. */
  readonly indexingPolicyJson: Json;
  readonly indexingPolicy: IndexingPolicy;
  /** Seconds; -1: items expire only by their own ttl; absent: nothing expires. */
  readonly defaultTtl?: number;
  /** Paths whose values are kept at hand for the indexes. */
  readonly knownPaths: readonly (readonly string[])[];
}

/** A definition that cannot be read; the message names the property. */
export class InvalidDefinitionError extends Error {}

function fail(message: string): never {
  throw new InvalidDefinitionError(message);
}

/** Databases and containers: up to 255 characters without those that would break a link. */
export function checkResourceName(name: Json | undefined, property: string): string {
  if (typeof name !== 'string' || name === '' || name.length > 255)
    return fail(`${property} is no text of 1 to 255 characters`);
  if (/[/\\?#]/.test(name) || name.endsWith(' ')) return fail(`${property} holds one of / \\ ? # or ends with a space`);
  return name;
}

function readPolicy(policy: Json): IndexingPolicy {
  try {
    return readIndexingPolicy(policy);
  } catch (error) {
    if (error instanceof InvalidPolicyError) return fail(error.message);
    throw error;
  }
}

function readPartitionKey(value: Json | undefined): string {
  if (typeof value === 'string') return checkPartitionKeyPath(value);
  const paths = isObject(value) ? value['paths'] : undefined;
  if (!isArray(paths)) return fail('partitionKey is neither a path nor an object with paths');
  if (paths.length !== 1) return fail('partitionKey has several paths; hierarchical partition keys are not supported');
  return checkPartitionKeyPath(paths[0]);
}

function checkPartitionKeyPath(path: Json | undefined): string {
  if (typeof path !== 'string' || !/^\/[^/]/.test(path) || /[?*]$/.test(path)) {
    return fail(`partitionKey is no path like "/id": ${JSON.stringify(path)}`);
  }
  return path;
}

function readDefaultTtl(value: Json | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isTtl =
    typeof value === 'number' && Number.isInteger(value) && (value === -1 || (value > 0 && value <= 0x7fffffff));
  return isTtl ? value : fail(`defaultTtl is neither -1 nor a positive number of seconds: ${JSON.stringify(value)}`);
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

/** Reads a container's properties in the form of the REST API; the name is under `nameProperty`. Throws InvalidDefinitionError. */
export function readDefinition(
  database: string,
  properties: JsonObject,
  nameProperty: 'id' | 'name',
): ContainerDefinition {
  const name = checkResourceName(properties[nameProperty], nameProperty);
  for (const property of REFUSED_PROPERTIES) {
    if (isSet(properties[property])) fail(`${property} is not supported by the embedded Cosmos DB`);
  }
  const partitionKeyText = readPartitionKey(properties['partitionKey']);
  const partitionKeyPath = pathSegments(partitionKeyText);
  const indexingPolicyJson = properties['indexingPolicy'] ?? DEFAULT_POLICY;
  const indexingPolicy = readPolicy(indexingPolicyJson);
  const defaultTtl = readDefaultTtl(properties['defaultTtl']);
  return {
    database,
    name,
    partitionKeyText,
    partitionKeyPath,
    indexingPolicyJson,
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
    indexingPolicy: definition.indexingPolicyJson,
    ...(definition.defaultTtl === undefined ? {} : { defaultTtl: definition.defaultTtl }),
  };
}
