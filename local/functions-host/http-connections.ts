/** The open connections of an HTTP server, so that it can close without waiting for clients that do not. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Follows the connections of a server from now on; returns what closes it: at once those on which nothing runs (silent
 * ones, and those whose request has come in part), the others after their answer.
 */
export function followConnections(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  const requests = new Set<IncomingMessage>();
  let isClosing = false;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    requests.add(request);
    response.once('close', () => {
      requests.delete(request);
      if (isClosing) request.socket.destroy();
    });
  });
  return () =>
    new Promise((resolve) => {
      isClosing = true;
      server.close(() => {
        resolve();
      });
      const busy = new Set([...requests].filter(({ complete }) => complete).map(({ socket }) => socket));
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
    });
}
