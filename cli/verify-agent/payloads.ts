/** What the requests carry for the remote service: one payload for each outcome that is to be seen. */
import { z } from 'zod';
import { readJsonFile } from '../../local/project.js';
import { UsageError } from '../errors.js';

const payloadSchema = z.record(z.string(), z.unknown());

const payloadsSchema = z.strictObject({
  /** The remote service does it. */
  success: payloadSchema,
  /** The remote service definitely says no. */
  refusal: payloadSchema.optional(),
  /** The remote service can never do it. */
  failure: payloadSchema.optional(),
  /** The remote service gives no answer in time. */
  unknown: payloadSchema.optional(),
});

export type Payloads = Readonly<z.infer<typeof payloadsSchema>>;

/**
 * Reads a file of payloads.
 *
 * @throws UsageError
 */
export function readPayloads(path: string): Payloads {
  const parsed = payloadsSchema.safeParse(readFile(path));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`).join('; ');
  throw new UsageError(
    `${path}: ${problems}. It holds an object with "success" and, where they can be brought about, ` +
      '"refusal", "failure" and "unknown"; each is the payload of a request.',
  );
}

function readFile(path: string): unknown {
  try {
    return readJsonFile(path, 'the payloads');
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
