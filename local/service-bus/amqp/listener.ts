/** The port of the broker, and what happens on each connection. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { BrokerContext } from '../context.js';
import { ClientConnection } from './client-connection.js';
import type { Dispatcher } from './dispatcher.js';
import { openReceiver, openSender } from './links.js';
import { guardSession, type SessionGuard } from './session-guard.js';

/** The open port. */
export interface Listener {
  readonly server: Server;
  readonly port: number;
  readonly clients: Set<ClientConnection>;
}

/** Opens the port on 127.0.0.1; the port 0 is a free one. */
export async function listen(context: BrokerContext, dispatcher: Dispatcher, port: number): Promise<Listener> {
  const clients = new Set<ClientConnection>();
  const server = createServer({ noDelay: true }, (socket) => {
    const client = new ClientConnection(context, socket);
    clients.add(client);
    client.onClosed(() => clients.delete(client));
    serve(context, client, dispatcher);
    client.accept();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  }).catch((error: unknown) => {
    throw new Error(
      `The Service Bus broker cannot listen on 127.0.0.1:${port}: ${String(error)}. Choose another port.`,
    );
  });
  return { server, port: (server.address() as AddressInfo).port, clients };
}

function serve(context: BrokerContext, client: ClientConnection, dispatcher: Dispatcher): void {
  const links = { context, client, dispatcher };
  const guards = new WeakMap<object, SessionGuard>();
  client.connection.on('session_open', ({ session }) => {
    guards.set(session, guardSession(session, client, client.windowOpened));
  });
  client.connection.on('receiver_open', ({ session, receiver }) => {
    const guard = guards.get(session);
    if (guard === undefined) return;
    client.guard(() => {
      openReceiver(links, receiver, guard);
    });
  });
  client.connection.on('sender_open', ({ sender }) => {
    client.guard(() => {
      openSender(links, sender);
    });
  });
}

/**
 * Takes no more connections and cuts those that are open. A close with an error would be more polite, but the official
 * client does not come back from it, whereas it does from a broken connection.
 */
export async function stopListening({ server, clients }: Listener): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const client of clients) client.cut();
  await closed;
}
