import diagnosticsChannel from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The AMQP library leaves Nagle's algorithm on: a small send then waits 40 ms for an acknowledgement. */
export function sendSmallFramesAtOnce(): void {
  diagnosticsChannel.subscribe('net.client.socket', (message) => {
    (message as { socket: Socket }).socket.setNoDelay(true);
  });
}
