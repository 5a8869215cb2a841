/** Checks the key signature of requests. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { ResourcePath } from './resource-path.js';
import { forbidden, unauthorized } from './wire-errors.js';

/** The key every Cosmos DB emulator is known to use. */
export const EMULATOR_KEY = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

/** Clocks may differ by this much, as in the service. */
const MAX_CLOCK_DIFFERENCE_MS = 15 * 60 * 1000;

const PREFIX = 'type=master&ver=1.0&sig=';

/** What of a request the signature covers. */
export interface SignedRequest {
  readonly method: string;
  readonly path: ResourcePath;
  readonly authorization: string | undefined;
  readonly date: string | undefined;
}

/** Throws 401 or 403 for a request that the key's owner did not sign just now. */
export type Authenticate = (request: SignedRequest) => void;

/** The token of the header, which clients encode each in their own way. */
function readToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw unauthorized('Required Header authorization is missing. Ensure a valid Authorization token is passed.');
  }
  const token = decode(authorization);
  if (token.toLowerCase().includes('type=aad')) {
    throw unauthorized('Microsoft Entra tokens are not accepted by the embedded Cosmos DB: use its key over http.');
  }
  return token;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Fits no signature.
  }
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Creates the check for a key in base64. */
export function createAuthenticate(key: string, now: () => number = () => Date.now()): Authenticate {
  const secret = createSecretKey(Buffer.from(key, 'base64'));
  let lastDate = '';
  let lastTime = NaN;
  const timeOf = (date: string): number => {
    if (date !== lastDate) {
      lastDate = date;
      lastTime = Date.parse(date);
    }
    return lastTime;
  };
  return ({ method, path, authorization, date }) => {
    const token = readToken(authorization);
    if (date === undefined) throw unauthorized('The header x-ms-date is missing.');
    const textFor = (resourceId: string): string =>
      `${method.toLowerCase()}\n${path.resourceType}\n${resourceId}\n${date.toLowerCase()}\n\n`;
    const isSigned = (signed: string): boolean =>
      isEqual(token, PREFIX + createHmac('sha256', secret).update(signed).digest('base64'));
    const text = textFor(path.resourceId);
    if (!isSigned(text) && !isSigned(textFor(path.ownRid))) {
      throw unauthorized(
        "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol. " +
          `Server used the following payload to sign: '${text.replaceAll('\n', '\\n')}'`,
      );
    }
    if (!(Math.abs(now() - timeOf(date)) <= MAX_CLOCK_DIFFERENCE_MS)) {
      throw forbidden(
        `The authorization token is not valid at the current time: x-ms-date is ${date}, the server's clock says ${new Date(now()).toUTCString()}.`,
      );
    }
  };
}
