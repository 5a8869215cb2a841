/** Choice of TCP ports on 127.0.0.1. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ranges from which systems take the ports of outgoing connections: while a part is down, a client that
// reconnects could otherwise be given the very port that the part wants back.
const lowest = 20_000;
const highest = 30_000;
const attempts = 50;

/** A port that nobody listens on now. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port found between ${lowest} and ${highest} on 127.0.0.1.`);
}

/** Whether a server could listen there now. */
export async function isPortFree(port: number): Promise<boolean> {
  // A client that reconnects just now must not keep the probe open.
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && ['EADDRINUSE', 'EACCES'].includes(String(error.code));
    if (isTaken) return false;
    throw error;
  }
}
