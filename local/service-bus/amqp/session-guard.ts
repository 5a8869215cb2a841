/** Stands between the frames of a session and rhea. */
import { limits } from '../limits.js';
import type { ClientConnection } from './client-connection.js';
import type { Frame, Receiver, Session } from './rhea.js';

/** rhea decodes messages of format 0 and loses AMQP types; with this format it hands over the bytes. */
const undecodedFormat = 0xffff_ffff;

const coordinator = 0x30;
const nothing = Buffer.alloc(0);

/** What the guard has seen that rhea does not tell. */
export interface SessionGuard {
  /** True while the attach being handled is that of a transaction coordinator. */
  isCoordinator: boolean;
  /** True when the message just completed was larger than its link allows; its bytes are not all there. */
  isOversized(receiver: Receiver): boolean;
}

/** Puts the guard in place; `onWindow` is called when the peer may have made room for more transfers. */
export function guardSession(session: Session, client: ClientConnection, onWindow: () => void): SessionGuard {
  const sizes = new WeakMap<Receiver, number>();
  const guard: SessionGuard = {
    isCoordinator: false,
    isOversized: (receiver) => (sizes.get(receiver) ?? 0) > sizeLimit(receiver),
  };
  const next = {
    transfer: session.on_transfer.bind(session),
    attach: session.on_attach.bind(session),
    disposition: session.on_disposition.bind(session),
    flow: session.on_flow.bind(session),
  };
  session.on_transfer = (frame) => {
    const receiver = session.remote.handles[frame.performative.handle];
    if (receiver !== undefined) prepareTransfer(frame, receiver, sizes);
    next.transfer(frame);
  };
  session.on_attach = (frame) => {
    const { target } = frame.performative;
    const descriptor = target?.descriptor?.value;
    guard.isCoordinator = descriptor === coordinator || descriptor === 'amqp:coordinator:list';
    if (guard.isCoordinator) frame.performative.target = undefined;
    next.attach(frame);
    guard.isCoordinator = false;
  };
  separateNames(session);
  session.on_disposition = (frame) => {
    const { first, last } = frame.performative;
    if ((last ?? first) - first > limits.maxDispositionRange)
      throw new Error('A disposition names too many deliveries.');
    next.disposition(frame);
  };
  session.on_flow = (frame) => {
    next.flow(frame);
    client.guard(onWindow);
  };
  return guard;
}

/**
 * A link is known by its name and its direction; rhea looks it up by its name alone. So rhea gets a name of ours, and the
 * client its own one.
 */
function separateNames(session: Session): void {
  const attach = session.on_attach.bind(session);
  const createLink = session.create_link.bind(session);
  let attaching: Frame | undefined;
  let ownName = '';
  session.on_attach = (frame) => {
    attaching = frame;
    ownName = frame.performative.name;
    frame.performative.name = `${frame.performative.role ? 'to' : 'from'} client: ${ownName}`;
    attach(frame);
  };
  session.create_link = (name, constructor, options) => {
    const link = createLink(name, constructor, options);
    link.local.attach.name = ownName;
    if (attaching !== undefined) attaching.performative.name = ownName;
    return link;
  };
}

/** What the link was told when it was opened. */
function sizeLimit(receiver: Receiver): number {
  return receiver.local.attach.max_message_size ?? limits.maxMessageBytes;
}

function prepareTransfer(frame: Frame, receiver: Receiver, sizes: WeakMap<Receiver, number>): void {
  const isFirst = receiver._incomplete === undefined;
  const { performative } = frame;
  if (isFirst && (performative.message_format ?? 0) === 0) performative.message_format = undecodedFormat;
  const size = (isFirst ? 0 : (sizes.get(receiver) ?? 0)) + (frame.payload?.length ?? 0);
  sizes.set(receiver, size);
  // The rest of an oversized message is only counted, so that the session stays in step and memory does not grow.
  frame.payload = size > sizeLimit(receiver) ? nothing : (frame.payload ?? nothing);
}
