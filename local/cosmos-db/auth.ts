/** Checks the key signature of requests. */
import { createHmac, createSecretKey } from 'node:crypto';
import type { ResourcePath } from './resource-path.js';
import { forbidden, unauthorized } from './wire-errors.js';

/** The key every Cosmos DB emulator is known to use. */
export const EMULATOR_KEY = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

/** Clocks may differ by this much, as in the service. */
const MAX_CLOCK_DIFFERENCE_MS = 15 * 60 * 1000;

const PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';

/** What of a request the signature covers. */
export interface SignedRequest {
  readonly method: string;
  readonly path: ResourcePath;
  readonly authorization: string | undefined;
  readonly date: string | undefined;
}

/** Throws 401 or 403 for a request that the key's owner did not sign just now. */
export type Authenticate = (request: SignedRequest) => void;

function checkScheme(authorization: string | undefined): void {
  if (authorization === undefined || authorization === '') {
    throw unauthorized('Required Header authorization is missing. Ensure a valid Authorization token is passed.');
  }
  const text = authorization.toLowerCase();
  if (text.includes('type%3daad') || text.includes('type=aad')) {
    throw unauthorized('Microsoft Entra tokens are not accepted by the embedded Cosmos DB: use its key over http.');
  }
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
    checkScheme(authorization);
    if (date === undefined) throw unauthorized('The header x-ms-date is missing.');
    const text = `${method.toLowerCase()}\n${path.resourceType}\n${path.resourceId}\n${date.toLowerCase()}\n\n`;
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    if (authorization !== PREFIX + encodeURIComponent(signature)) {
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
