import type { Container, ItemDefinition, Resource } from '@azure/cosmos';
import { TransientError } from '../state/errors.js';
import { cosmosError, isAbsent } from './errors.js';

/**
 * Reads an item by its id and partition key.
 *
 * @returns `undefined` only if the service says that the item itself is absent
 * @throws TransientError also for every other 404: the session is not available at this replica, the container is not there
 */
export async function readItem<Item extends ItemDefinition>(
  container: Container,
  id: string,
  partitionKey: string,
): Promise<(Item & Resource) | undefined> {
  try {
    const { resource, statusCode, substatus } = await container.item(id, partitionKey).read<Item>();
    if (resource !== undefined || isAbsent({ code: statusCode, substatus })) return resource;
    throw new TransientError(`state store: status ${statusCode}/${substatus ?? 0} instead of ${id}`);
  } catch (error) {
    throw error instanceof TransientError ? error : cosmosError(error);
  }
}
