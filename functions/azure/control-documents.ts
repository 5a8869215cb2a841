/** Documents of the Cosmos DB container `control`: a few small ones, each read and written by its id. */
import type { Container } from '@azure/cosmos';
import type { ZodType } from 'zod';
import { cosmosError } from './errors.js';
import { readItem } from './read-item.js';

/** What a control document holds. No `etag`: there is no document; no `content`: none, or not of the expected form. */
export interface ControlDocument<Content> {
  readonly content?: Content;
  readonly etag?: string;
}

/** Reads a control document. Throws TransientError when the store can't answer. */
export async function readControlDocument<Content>(
  container: Container,
  id: string,
  form: ZodType<Content>,
): Promise<ControlDocument<Content>> {
  const document = await readItem(container, id, id);
  if (document === undefined) return {};
  const parsed = form.safeParse(document);
  return { etag: document._etag, ...(parsed.success ? { content: parsed.data } : {}) };
}

/** Writes a control document, whatever it held before. Throws TransientError when the store can't answer. */
export async function overwriteControlDocument(container: Container, id: string, content: object): Promise<void> {
  try {
    await container.items.upsert({ ...content, id });
  } catch (error) {
    throw cosmosError(error);
  }
}
