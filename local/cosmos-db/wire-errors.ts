/** Every error the server answers with: HTTP status, sub-status, code and message, as the service words them. */

/** Extra facts of a refusal. */
export interface WireErrorDetails {
  readonly subStatus?: number;
  readonly retryAfterMs?: number;
  /** Present in the body of "not servable by the gateway": the client tests this very property. */
  readonly additionalErrorInfo?: string;
}

/** A refusal on its way to the client. */
export class WireError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: WireErrorDetails;

  constructor(status: number, code: string, message: string, details: WireErrorDetails = {}) {
    super(message);
    this.name = 'WireError';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  424: 'FailedDependency',
  429: 'TooManyRequests',
  449: 'RetryWith',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/** The service's name of a status; 'Error' for one it does not use. */
export function codeOfStatus(status: number): string {
  return CODE_OF_STATUS[status] ?? 'Error';
}

function wireError(status: number, message: string, details?: WireErrorDetails): WireError {
  return new WireError(status, codeOfStatus(status), message, details);
}

export function badRequest(message: string): WireError {
  return wireError(400, message);
}

/** 400 with the message of the service's query parser. */
export function badQuery(message: string): WireError {
  return wireError(
    400,
    `Message: {"errors":[{"severity":"Error","code":"SC1001","message":${JSON.stringify(message)}}]}`,
  );
}

/** 400 for what this embedded server leaves out on purpose; the message names the way out. */
export function notSupported(what: string): WireError {
  return wireError(
    400,
    `${what} is not supported by the embedded Cosmos DB. Use the official emulator or an Azure account for it (local/cosmos-db/README.md).`,
  );
}

export function partitionKeyMismatch(): WireError {
  return wireError(
    400,
    'PartitionKey extracted from document does not match the one specified in the header. Learn more: https://aka.ms/CosmosDB/sql/errors/wrong-pk-value',
    { subStatus: 1001 },
  );
}

export function partitionKeyIncomplete(): WireError {
  return wireError(
    400,
    'The partition key supplied in x-ms-partitionkey header has fewer components than defined in the the collection.',
    {
      subStatus: 1001,
    },
  );
}

/** 400/1004: the client fetches the query plan and asks each physical partition itself. */
export function notServableByGateway(): WireError {
  return wireError(
    400,
    'The provided cross partition query can not be directly served by the gateway. This is a first chance (internal) exception that all newer clients will know how to handle gracefully. ' +
      'This exception is traced, but unless you see it bubble up as an exception (which only happens on older SDK clients), then you can safely ignore this message.',
    { subStatus: 1004, additionalErrorInfo: 'The client has to use the query plan.' },
  );
}

export function unauthorized(message: string): WireError {
  return wireError(401, message);
}

export function forbidden(message: string): WireError {
  return wireError(403, message);
}

export function notFound(what: string): WireError {
  return wireError(404, `Entity with the specified id does not exist in the system. (${what})`);
}

/** 404/1003: what should hold the item is not there. */
export function ownerNotFound(what: string): WireError {
  return wireError(404, `Owner resource does not exist. (${what})`, { subStatus: 1003 });
}

export function methodNotAllowed(method: string, path: string): WireError {
  return wireError(405, `The requested verb ${method} is not supported on ${path}.`);
}

export function conflict(what: string): WireError {
  return wireError(409, `Entity with the specified id already exists in the system. (${what})`);
}

export function unknownPartitionRange(id: string): WireError {
  return wireError(410, `The requested resource is no longer available at the server: partition key range ${id}.`, {
    subStatus: 1002,
  });
}

export function preconditionFailed(): WireError {
  return wireError(412, 'One of the specified pre-condition is not met.');
}

export function tooLarge(): WireError {
  return wireError(413, 'Request size is too large: a document may hold 2 MB at most.');
}

export function failedDependency(): WireError {
  return wireError(424, 'Another operation of the batch has failed.');
}

export function tooManyRequests(retryAfterMs: number): WireError {
  return wireError(
    429,
    'Request rate is large. More Request Units may be needed, so no changes were made. Please retry this request later.',
    {
      subStatus: 3200,
      retryAfterMs,
    },
  );
}

export function serviceUnavailable(message: string): WireError {
  return wireError(503, message);
}

/** Status and sub-status that a fault rule names: "503", "429", "404/1002". Undefined if the service has no such status. */
export function readFaultError(
  error: string,
): { readonly status: number; readonly details: WireErrorDetails } | undefined {
  const [, status, subStatus] = /^(\d{3})(?:\/(\d{1,5}))?$/.exec(error) ?? [];
  if (codeOfStatus(Number(status)) === 'Error') return undefined;
  const throttled = { subStatus: 3200, retryAfterMs: 5 };
  const named = subStatus === undefined ? {} : { subStatus: Number(subStatus) };
  return { status: Number(status), details: { ...(status === '429' ? throttled : {}), ...named } };
}

/** An error a fault rule asks for; 503 if it names none. */
export function injectedFault(error = '503'): WireError {
  const fault = readFaultError(error);
  if (fault === undefined)
    return wireError(500, `A fault rule refuses with "${error}", which is no status of the service.`);
  return wireError(fault.status, 'This request was refused by a fault rule.', fault.details);
}

/** The body of an error answer. */
export function errorBody(error: WireError): string {
  const { additionalErrorInfo } = error.details;
  return JSON.stringify({
    code: error.code,
    message: error.message,
    ...(additionalErrorInfo === undefined ? {} : { additionalErrorInfo }),
  });
}
