import type { Container } from '@azure/cosmos';
import { cosmosError, statusCodeOf } from './errors.js';

/** The version that a document must still have; without `etag` there must be none yet. */
export interface ExpectedVersion {
  readonly partitionKey: string;
  readonly etag: string | undefined;
}

/** Creates or replaces a document; answers false, and writes nothing, when somebody else has written it meanwhile. */
export async function writeIfUnchanged(
  container: Container,
  document: { readonly id: string },
  { partitionKey, etag }: ExpectedVersion,
): Promise<boolean> {
  try {
    if (etag === undefined) await container.items.create(document);
    else {
      const accessCondition = { type: 'IfMatch', condition: etag };
      await container.item(document.id, partitionKey).replace(document, { accessCondition });
    }
    return true;
  } catch (error) {
    if (statusCodeOf(error) === 409 || statusCodeOf(error) === 412) return false;
    throw cosmosError(error);
  }
}
