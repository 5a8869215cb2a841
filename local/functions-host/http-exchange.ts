/** Small helpers over Node's HTTP server: read a body, send an answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer that a route gives. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The request is at fault; `status` and the message go back to the caller. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Limit of Azure Functions for a request. */
const maxBodyBytes = 210_000_000;

/** Reads the whole body. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new HttpError(413, `The request body is larger than ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Sends an answer: bytes as they are, text as text, everything else as JSON. */
export function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const content = encode(body);
  if (content === undefined) {
    response.writeHead(status, { ...headers, 'content-length': 0 }).end();
    return;
  }
  const type = 'content-type' in headers ? {} : content.type;
  response.writeHead(status, { ...type, ...headers, 'content-length': content.bytes.length }).end(content.bytes);
}

function encode(body: unknown): { readonly bytes: Buffer; readonly type: Record<string, string> } | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return { bytes: body, type: {} };
  if (typeof body === 'string')
    return { bytes: Buffer.from(body), type: { 'content-type': 'text/plain; charset=utf-8' } };
  return { bytes: Buffer.from(JSON.stringify(body)), type: { 'content-type': 'application/json; charset=utf-8' } };
}
