/** A queue's $management node: requests come in on one link, responses go out on another. */
import { failure, respond, textProperty, type Response } from '../amqp/requests.js';
import type { ClientConnection } from '../amqp/client-connection.js';
import type { RequestMessage } from '../amqp/rhea.js';
import type { BrokerContext } from '../context.js';
import { DecodeError, wireErrors } from '../errors.js';
import { perform } from '../faulty-operation.js';
import type { Queue } from '../queue/queue.js';
import { operations } from './operations.js';
import { ArgumentError, asBody } from './request-body.js';

const prefix = 'com.microsoft:';

/** Handles one request. */
export function handleManagementRequest(
  context: BrokerContext,
  client: ClientConnection,
  queue: Queue,
  request: RequestMessage,
): void {
  void perform<Response>(context, {
    name: 'management',
    entity: queue.name,
    run: async () => {
      const response = runOperation(context, client, queue, request);
      context.counters.add(queue.name, 'managementRequests');
      await context.commit(queue);
      return response;
    },
    answer: (response) => {
      respond(client, request, response);
    },
    pretend: () => undefined,
    refuse: (error) => {
      respond(client, request, failure(500, error));
    },
    cut: client.cut,
  });
}

function runOperation(
  context: BrokerContext,
  client: ClientConnection,
  queue: Queue,
  request: RequestMessage,
): Response {
  const name = textProperty(request, 'operation');
  const key = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  const operation = Object.hasOwn(operations, key) ? operations[key] : undefined;
  if (operation === undefined) return failure(501, wireErrors.notSupported(`the management operation '${name}'`));
  if (!client.claims.allows(queue.name, operation.right, context.clock.now())) {
    return failure(401, wireErrors.unauthorized(`The ${operation.right} claim is required for '${queue.name}'.`));
  }
  try {
    return operation.run({ context, queue, body: asBody(request.body) });
  } catch (error) {
    if (error instanceof ArgumentError) return failure(400, wireErrors.invalidArgument(error.message));
    if (error instanceof DecodeError) return failure(400, wireErrors.malformed(error.message));
    throw error;
  }
}
