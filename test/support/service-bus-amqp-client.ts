import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Message } from 'rhea';
import type { Broker } from '../../local/service-bus/index.js';
import { cleanUp } from './service-bus-broker.js';
import { signToken } from './service-bus-tokens.js';

/** A bare AMQP client, for what the official one never does. */
export interface AmqpClient {
  readonly connection: Connection;
  /** Presents a token for an entity; resolves with the status. */
  readonly authorize: (entity: string) => Promise<number>;
  /** Sends a request to a node and resolves with its response. */
  readonly request: (node: string, request: Partial<Message>) => Promise<Message>;
}

const keyPattern = /SharedAccessKeyName=([^;]*);SharedAccessKey=([^;]*)/;

const portPattern = /127\.0\.0\.1:(\d+)/;

/** Connects without any token. */
export async function connectAmqp({ connectionString }: Pick<Broker, 'connectionString'>): Promise<AmqpClient> {
  const port = Number(portPattern.exec(connectionString)?.[1]);
  const connection = rhea.create_container().connect({ host: '127.0.0.1', port, username: 'test', reconnect: false });
  connection.on('disconnected', () => undefined);
  connection.on('connection_error', () => undefined);
  cleanUp(() => {
    connection.close();
    return Promise.resolve();
  });
  await once(connection, 'connection_open');
  let requests = 0;
  const request = async (node: string, message: Partial<Message>): Promise<Message> => {
    const name = `reply-${(requests += 1)}`;
    const receiver = connection.open_receiver({ name, source: node, target: name });
    const sender = connection.open_sender(node);
    await Promise.all([once(receiver, 'receiver_open'), once(sender, 'sendable')]);
    const answered = once(receiver, 'message') as Promise<[EventContext]>;
    sender.send({ body: null, message_id: name, reply_to: name, ...message });
    const [{ message: answer }] = await answered;
    if (answer === undefined) throw new Error('The answer is empty.');
    return answer;
  };
  return {
    connection,
    request,
    authorize: async (entity) => {
      const [, keyName = '', key = ''] = keyPattern.exec(connectionString) ?? [];
      const resource = `sb://127.0.0.1:${port}/${entity}`;
      const answer = await request('$cbs', {
        body: signToken({ resource, keyName, key, expiresAt: Date.now() + 3_600_000 }),
        application_properties: { operation: 'put-token', name: resource, type: 'servicebus.windows.net:sastoken' },
      });
      return Number(answer.application_properties?.['status-code']);
    },
  };
}
