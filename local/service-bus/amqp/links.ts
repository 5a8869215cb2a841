/** Decides what a link that a client attaches is for, and serves or refuses it. */
import type { BrokerContext } from '../context.js';
import { handleTokenRequest } from '../auth/token-node.js';
import { wireErrors, type WireError } from '../errors.js';
import { performUnder } from '../faulty-operation.js';
import { limits } from '../limits.js';
import { handleManagementRequest } from '../management/management-node.js';
import { parseEntityPath, unsupportedFeature } from '../queue/entity-path.js';
import type { Queue } from '../queue/queue.js';
import type { ClientConnection } from './client-connection.js';
import { checkConsumer, Consumer } from './consumer.js';
import type { Dispatcher } from './dispatcher.js';
import { Producer } from './producer.js';
import { takeRequest } from './requests.js';
import { accepted, rejected, type Link, type Receiver, type RequestMessage, type Sender } from './rhea.js';
import type { SessionGuard } from './session-guard.js';

const tokenNode = '$cbs';

/** Requests a client may have on the way to one node. */
const nodeCredit = 100;

/** What serving a link takes. */
export interface LinkContext {
  readonly context: BrokerContext;
  readonly client: ClientConnection;
  readonly dispatcher: Dispatcher;
}

/** A client wants to send. */
export function openReceiver(links: LinkContext, receiver: Receiver, guard: SessionGuard): void {
  const address = receiver.target?.address;
  if (guard.isCoordinator) {
    refuse(receiver, wireErrors.notSupported('transactions'));
  } else if (address === tokenNode) {
    openNode(links.client, receiver, guard, (request) => {
      handleTokenRequest(links.context, links.client, request);
    });
  } else {
    openEntity(links, receiver, address, ({ queue, isManagement }) => {
      if (isManagement) openManagement(links, receiver, queue, guard);
      else openProducer(links, receiver, queue, guard);
    });
  }
}

/** A client wants to receive. */
export function openSender(links: LinkContext, sender: Sender): void {
  const address = sender.source?.address;
  if (address === tokenNode) {
    openReplyLink(links.client, sender);
  } else {
    openEntity(links, sender, address, ({ queue, isManagement }) => {
      if (isManagement) openReplyLink(links.client, sender);
      else openConsumer(links, sender, queue);
    });
  }
}

function openEntity(links: LinkContext, link: Link, address: string | undefined, open: (entity: Entity) => void): void {
  const entity = findEntity(links, address);
  if ('condition' in entity) {
    refuse(link, entity);
    return;
  }
  attach(links, link, entity.queue, () => {
    open(entity);
  });
}

interface Entity {
  readonly queue: Queue;
  readonly isManagement: boolean;
}

function findEntity({ context }: LinkContext, address: string | undefined): Entity | WireError {
  if (address === undefined) return wireErrors.invalidArgument('The link names neither a queue nor a node.');
  const { entity, isManagement } = parseEntityPath(address);
  const feature = unsupportedFeature(entity);
  if (feature !== undefined) return wireErrors.notSupported(feature);
  const queue = context.namespace.find(entity);
  return queue === undefined ? wireErrors.entityNotFound(entity) : { queue, isManagement };
}

/** Attaches at once, or as a fault rule says: then the answer to the client is held back. */
function attach({ context, client }: LinkContext, link: Link, queue: Queue, open: () => void): void {
  const rule = context.faults.decide('attach', queue.name);
  if (rule === undefined) {
    open();
    return;
  }
  holdBack(link);
  void performUnder(rule, context, {
    name: 'attach',
    entity: queue.name,
    run: () => {
      link.open();
      client.guard(open);
      return Promise.resolve();
    },
    answer: () => undefined,
    pretend: () => undefined,
    refuse: (error) => {
      link.open();
      refuse(link, error);
    },
    cut: client.cut,
  });
}

/** rhea has already decided to answer the attach; this takes that back until `open` is called. */
function holdBack({ state }: Link): void {
  state.local_open = false;
  state.open_requests -= 1;
}

/** Attach without terminus and detach leave in one write: a client that saw only the first would take the link for open. */
function refuse(link: Link, error: WireError): void {
  link.close(error);
}

/** What a client gets to see of the link it asked for. */
function echo(link: Link): void {
  const { attach: reply } = link.local;
  reply.snd_settle_mode = link.snd_settle_mode;
  reply.rcv_settle_mode = link.rcv_settle_mode;
  link.set_source({ address: link.source?.address ?? '' });
  link.set_target({ address: link.target?.address ?? '' });
}

function openProducer({ context, client }: LinkContext, receiver: Receiver, queue: Queue, guard: SessionGuard): void {
  if (queue.isDeadLetter) {
    refuse(receiver, wireErrors.notAllowed(`'${queue.name}' takes dead letters only; send to a queue.`));
    return;
  }
  if (!client.claims.allows(queue.name, 'Send', context.clock.now())) {
    refuse(receiver, wireErrors.unauthorized(`The Send claim is required for '${queue.name}'.`));
    return;
  }
  echo(receiver);
  receiver.local.attach.max_message_size = limits.maxMessageBytes;
  const producer = new Producer(context, client, queue, receiver);
  receiver.on('message', ({ delivery, message }) => {
    client.guard(() => {
      producer.onTransfer({ delivery, payload: message, isOversized: guard.isOversized(receiver) });
    });
  });
  producer.open();
}

function openConsumer({ context, client, dispatcher }: LinkContext, sender: Sender, queue: Queue): void {
  const problem = client.claims.allows(queue.name, 'Listen', context.clock.now())
    ? checkConsumer(sender, queue)
    : wireErrors.unauthorized(`The Listen claim is required for '${queue.name}'.`);
  if (problem !== undefined) {
    refuse(sender, problem);
    return;
  }
  echo(sender);
  const consumer = new Consumer(context, client, queue, sender);
  dispatcher.add(consumer);
  const wake = (): void => {
    dispatcher.mark(queue);
  };
  const forget = client.onDrained(wake);
  const end = (): void => {
    forget();
    dispatcher.remove(consumer);
    consumer.onClosed();
    unsubscribe();
  };
  const unsubscribe = client.onClosed(end);
  sender.on('sender_flow', () => {
    client.guard(() => {
      consumer.onFlow();
      wake();
    });
  });
  sender.on('sender_close', () => {
    client.guard(end);
  });
}

function openReplyLink(client: ClientConnection, sender: Sender): void {
  echo(sender);
  const { name } = sender.local.attach;
  const names = [name, sender.target?.address ?? name];
  for (const known of names) client.replyLinks.set(known, sender);
  sender.on('sender_close', () => {
    for (const known of names) client.replyLinks.delete(known);
  });
}

function openManagement(links: LinkContext, receiver: Receiver, queue: Queue, guard: SessionGuard): void {
  openNode(links.client, receiver, guard, (request) => {
    handleManagementRequest(links.context, links.client, queue, request);
  });
}

/** A node takes requests; what is no request that can be answered is refused on its delivery. */
function openNode(
  client: ClientConnection,
  receiver: Receiver,
  guard: SessionGuard,
  handle: (request: RequestMessage) => void,
): void {
  echo(receiver);
  receiver.local.attach.max_message_size = limits.maxRequestBytes;
  receiver.on('message', ({ delivery, message }) => {
    client.guard(() => {
      const problem = takeRequest(client, { encoded: message, isOversized: guard.isOversized(receiver) }, handle);
      delivery.update(true, problem === undefined ? accepted : rejected(problem));
      receiver.add_credit(1);
    });
  });
  receiver.add_credit(nodeCredit);
}
