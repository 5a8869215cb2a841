/** Request and response over links: what the $cbs node and the $management nodes have in common. */
import { DecodeError, wireErrors, type WireError } from '../errors.js';
import { limits } from '../limits.js';
import { checkSections, readHead, readSections } from '../wire/sections.js';
import type { ClientConnection } from './client-connection.js';
import { decodeRequest, types, type RequestMessage, type Sender } from './rhea.js';

/** A response; `error` decides by its condition what the client makes of a failure. */
export interface Response {
  readonly status: number;
  readonly description: string;
  readonly error?: WireError;
  readonly body?: unknown;
}

/** A request as it came. */
export interface EncodedRequest {
  readonly encoded: Buffer;
  /** Larger than the link allows; the end of it is not there. */
  readonly isOversized: boolean;
}

/**
 * Hands a request to its node. Clients wait for a response and take no notice of what becomes of the delivery, so what
 * cannot be read is answered as well, if its head says where to. Returns why the delivery is to be rejected; undefined:
 * it is accepted.
 */
export function takeRequest(
  client: ClientConnection,
  { encoded, isOversized }: EncodedRequest,
  handle: (request: RequestMessage) => void,
): WireError | undefined {
  const refusal = isOversized ? failure(403, wireErrors.requestTooLarge(limits.maxRequestBytes)) : undefined;
  try {
    if (refusal !== undefined) return refuseRequest(client, encoded, refusal);
    const request = readRequest(encoded);
    if (replyLink(client, request) === undefined) return noReplyLink;
    handle(request);
    return undefined;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return refuseRequest(client, encoded, failure(400, wireErrors.malformed(error.message)));
  }
}

const noReplyLink = wireErrors.invalidArgument(
  'The reply-to of the request must be the target address or the name of an open link on which the client receives.',
);

function refuseRequest(client: ClientConnection, encoded: Buffer, refusal: Response): WireError | undefined {
  const head = decodeRequest(readHead(encoded));
  if (replyLink(client, head) === undefined) return refusal.error;
  respond(client, head, refusal);
  return undefined;
}

/** Decodes a request; malformed bytes are refused before rhea sees them. */
function readRequest(encoded: Buffer): RequestMessage {
  const sections = readSections(encoded);
  checkSections(encoded, sections);
  if (sections.length === 0) throw new DecodeError('The request is empty.');
  return decodeRequest(encoded);
}

/** An application property of a request; empty when it is missing or no text. */
export function textProperty(request: RequestMessage, name: string): string {
  const value = request.application_properties?.[name];
  return typeof value === 'string' ? value : '';
}

/** A failed response. */
export function failure(status: number, error: WireError): Response {
  return { status, description: error.description, error };
}

function replyLink(client: ClientConnection, { reply_to: name = '' }: RequestMessage): Sender | undefined {
  const link = client.replyLinks.get(name);
  return link?.is_open() === true ? link : undefined;
}

/** Sends a response on the link that the request names; one that the client has closed meanwhile gets none. */
export function respond(client: ClientConnection, request: RequestMessage, response: Response): void {
  const link = replyLink(client, request);
  if (link === undefined) return;
  const { status, description, error, body } = response;
  const code = types.wrap_int(status);
  link.send({
    correlation_id: request.message_id,
    to: request.reply_to,
    application_properties: {
      'status-code': code,
      statusCode: code,
      'status-description': description,
      statusDescription: description,
      ...errorCondition(error),
    },
    body: body ?? null,
  });
}

/** A symbol, as the service sends it: clients in .NET fail on a string. They differ in which spelling they read. */
function errorCondition(error: WireError | undefined): object {
  if (error === undefined) return {};
  const condition = types.wrap_symbol(error.condition);
  return { 'error-condition': condition, errorCondition: condition };
}
