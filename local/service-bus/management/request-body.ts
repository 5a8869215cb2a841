/** Reads the fields of a $management request; what a client may have got wrong is told to it. */

/** Thrown when a field is missing or of another type than the operation needs. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** The body of a request. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** The body as a map. */
export function asBody(body: unknown): RequestBody {
  if (typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !Array.isArray(body)) {
    return body as RequestBody;
  }
  throw new ArgumentError('The body of the request must be a map.');
}

/** A whole number; longs beyond 2^53 come as eight bytes. */
export function readNumber(body: RequestBody, field: string): number {
  const number = toNumber(body[field]);
  if (number === undefined) throw new ArgumentError(`${field} must be a whole number.`);
  return number;
}

/** A list of whole numbers. */
export function readNumbers(body: RequestBody, field: string): number[] {
  return readList(body, field).map((value) => {
    const number = toNumber(value);
    if (number === undefined) throw new ArgumentError(`${field} must be a list of whole numbers.`);
    return number;
  });
}

/** A list of UUIDs. */
export function readUuids(body: RequestBody, field: string): Buffer[] {
  return readList(body, field).map((value) => {
    if (Buffer.isBuffer(value) && value.length === 16) return value;
    throw new ArgumentError(`${field} must be a list of UUIDs.`);
  });
}

/** A list of maps. */
export function readMaps(body: RequestBody, field: string): RequestBody[] {
  return readList(body, field).map(asBody);
}

function readList(body: RequestBody, field: string): unknown[] {
  const list = body[field];
  if (Array.isArray(list)) return list;
  throw new ArgumentError(`${field} must be a list.`);
}

function toNumber(value: unknown): number | undefined {
  if (Buffer.isBuffer(value) && value.length === 8) return Number(value.readBigInt64BE());
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
