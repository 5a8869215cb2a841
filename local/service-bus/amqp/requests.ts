/** Request and response over links: what the $cbs node and the $management nodes have in common. */
import { DecodeError, type WireError } from '../errors.js';
import { checkSections, readSections } from '../wire/sections.js';
import type { ClientConnection } from './client-connection.js';
import { decodeRequest, types, type RequestMessage } from './rhea.js';

/** A response; `error` decides by its condition what the client makes of a failure. */
export interface Response {
  readonly status: number;
  readonly description: string;
  readonly error?: WireError;
  readonly body?: unknown;
}

/** Decodes a request; malformed bytes are refused before rhea sees them. */
export function readRequest(encoded: Buffer): RequestMessage {
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

/** Sends a response on the link that the request names; a client without such a link gets none. */
export function respond(client: ClientConnection, request: RequestMessage, response: Response): void {
  const link = client.replyLinks.get(request.reply_to ?? '');
  if (link?.is_open() !== true) return;
  const { status, description, error, body } = response;
  // Clients differ in which spelling they read.
  const condition = error === undefined ? {} : { 'error-condition': error.condition, errorCondition: error.condition };
  const code = types.wrap_int(status);
  link.send({
    correlation_id: request.message_id,
    to: request.reply_to,
    application_properties: {
      'status-code': code,
      statusCode: code,
      'status-description': description,
      statusDescription: description,
      ...condition,
    },
    body: body ?? null,
  });
}
