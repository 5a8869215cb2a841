/** Recognises clients that speak something else, and tells them what to use instead. */

/** What to answer to such a client, and what to write into the log. */
export interface ForeignProtocol {
  readonly answer: string;
  readonly reason: string;
}

const notice = 'This is an AMQP 1.0 port without TLS and without WebSockets.';
const headerBytes = 8;
/** SASL, which is where a client begins, and AMQP itself. */
const supportedHeaders = ['AMQP\u0003\u0001\u0000\u0000', 'AMQP\u0000\u0001\u0000\u0000'];

/** The answer for a client that does not speak AMQP 1.0 over plain TCP; undefined if it does. */
export function foreignProtocol(bytes: Buffer): ForeignProtocol | undefined {
  const isTls = bytes[0] === 0x16 && bytes[1] === 0x03;
  if (isTls) return { answer: '', reason: `${notice} The client tries TLS: add UseDevelopmentEmulator=true.` };
  const start = bytes.toString('latin1', 0, headerBytes);
  if (/^(?:GET|POST|PUT|HEAD|OPTIONS|CONNECT) /.test(start))
    return { answer: httpAnswer, reason: `${notice} The client tries HTTP.` };
  if (bytes.length < headerBytes || supportedHeaders.includes(start)) return undefined;
  // AMQP asks a server to name a protocol that it speaks before it hangs up.
  return { answer: supportedHeaders[0] ?? '', reason: `${notice} The client tries another protocol.` };
}

const body = `${notice} Connect over AMQP with UseDevelopmentEmulator=true; for WebSockets use Azure.\n`;

const httpAnswer = [
  'HTTP/1.1 501 Not Implemented',
  'Content-Type: text/plain',
  `Content-Length: ${body.length}`,
  'Connection: close',
  '',
  body,
].join('\r\n');
