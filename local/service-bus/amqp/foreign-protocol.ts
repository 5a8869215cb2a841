/** Recognises clients that speak something else, and tells them what to use instead. */

const notice = 'This is an AMQP 1.0 port without TLS and without WebSockets.';

/** The answer for a client that does not speak AMQP over plain TCP; undefined when it may. */
export function foreignProtocol(bytes: Buffer): string | undefined {
  const isTls = bytes[0] === 0x16 && bytes[1] === 0x03;
  if (isTls) return ''; // Nothing a TLS client could read; the README names UseDevelopmentEmulator=true.
  const start = bytes.toString('latin1', 0, 8);
  if (!/^(?:GET|POST|PUT|HEAD|OPTIONS|CONNECT) /.test(start)) return undefined;
  const body = `${notice} Connect over AMQP with UseDevelopmentEmulator=true; for WebSockets use Azure.\n`;
  return [
    'HTTP/1.1 501 Not Implemented',
    'Content-Type: text/plain',
    `Content-Length: ${body.length}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
