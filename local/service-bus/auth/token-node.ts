/** The $cbs node: clients put their tokens here before they attach links. */
import { failure, respond, textProperty, type Response } from '../amqp/requests.js';
import type { ClientConnection } from '../amqp/client-connection.js';
import type { RequestMessage } from '../amqp/rhea.js';
import type { BrokerContext } from '../context.js';
import { wireErrors } from '../errors.js';
import { perform } from '../faulty-operation.js';
import { parseEntityPath, unsupportedFeature } from '../queue/entity-path.js';
import { pathOf, verifyToken } from './shared-access-signature.js';

/** Handles one request. */
export function handleTokenRequest(context: BrokerContext, client: ClientConnection, request: RequestMessage): void {
  const audience = textProperty(request, 'name');
  const { entity } = parseEntityPath(pathOf(audience));
  void perform<Response>(context, {
    name: 'authorize',
    entity: context.namespace.find(entity)?.name ?? entity,
    run: () => Promise.resolve(putToken(context, client, request)),
    answer: (response) => {
      respond(client, request, response);
    },
    pretend: () => undefined,
    refuse: (error) => {
      respond(client, request, failure(401, error));
    },
    cut: client.cut,
  });
}

function putToken(context: BrokerContext, client: ClientConnection, request: RequestMessage): Response {
  const properties = request.application_properties ?? {};
  const [operation, type, name] = ['operation', 'type', 'name'].map((key) => properties[key]);
  if (operation !== 'put-token' || typeof name !== 'string' || typeof request.body !== 'string') {
    return failure(400, wireErrors.invalidArgument('Expected put-token with a token and the name of its resource.'));
  }
  if (type === 'jwt') return failure(401, wireErrors.unauthorized(`${jwtNotice} Use a connection string.`));
  const { entity } = parseEntityPath(pathOf(name));
  const feature = unsupportedFeature(entity);
  if (feature !== undefined) return failure(501, wireErrors.notSupported(feature));
  if (entity !== '' && context.namespace.find(entity) === undefined) {
    return failure(404, wireErrors.entityNotFound(name));
  }
  const verification = verifyToken(context.rules, { token: request.body, audience: name, now: context.clock.now() });
  if (verification.kind === 'refused') {
    context.counters.add('', 'refusedTokens');
    return failure(401, wireErrors.unauthorized(verification.reason));
  }
  client.claims.grant(pathOf(name), verification.grant);
  return { status: 202, description: 'Accepted' };
}

const jwtNotice = 'The embedded broker verifies shared access signatures only, not Microsoft Entra tokens.';
