/**
 * The part of rhea the broker uses, with types for the internals its typings leave out. A server needs more of rhea than
 * a client does; every place that relies on an internal is in this folder and says why.
 */
import type { Socket } from 'node:net';
import rhea from 'rhea';
import type { WireError } from '../errors.js';

/** A value with its AMQP type. */
export interface Typed {
  readonly value: unknown;
  readonly descriptor?: { readonly value: unknown };
}

/** The outcome a peer asked for; `value` holds the fields with their AMQP types. */
export interface Outcome {
  readonly value: readonly (Typed | undefined)[];
  readonly error?: { readonly condition?: string; readonly description?: string };
  readonly undeliverable_here?: boolean;
  described(): Typed;
}

/** One delivery, in either direction. */
export interface Delivery {
  readonly tag: Buffer;
  readonly format: number;
  readonly remote_state?: Outcome;
  settled: boolean;
  remote_settled: boolean;
  update(settled: boolean, state: Typed): void;
}

/** A terminus as the peer sent it. */
export interface Terminus {
  readonly address?: string;
  readonly dynamic?: boolean;
  readonly filter?: Readonly<Record<string, unknown>>;
}

/** What both kinds of links have in common. */
export interface Link {
  readonly session: Session;
  readonly connection: Connection;
  readonly source: Terminus | null;
  readonly target: Terminus | null;
  readonly snd_settle_mode: number;
  readonly rcv_settle_mode: number;
  readonly state: { local_open: boolean; open_requests: number };
  readonly local: { readonly attach: AttachFields };
  readonly remote: { readonly attach: { readonly source: unknown; readonly target: unknown } };
  set_source(fields: Terminus): void;
  set_target(fields: Terminus): void;
  open(): void;
  close(error?: WireError): void;
  is_open(): boolean;
  on(event: string, handler: (context: EventContext) => void): void;
}

interface AttachFields {
  /** The client's name for the link; `separateNames` gives rhea another. */
  name: string;
  snd_settle_mode?: number;
  rcv_settle_mode?: number;
  max_message_size?: number;
}

/** The broker's end of a link on which a client receives. */
export interface Sender extends Link {
  credit: number;
  delivery_count: number;
  _draining: boolean;
  _get_drain: () => boolean;
  set_drained(drained: boolean): void;
  send(message: unknown, tag?: Buffer, format?: number): Delivery;
}

/** The broker's end of a link on which a client sends. */
export interface Receiver extends Link {
  readonly _incomplete?: Delivery;
  add_credit(credit: number): void;
}

/** A frame on its way into a session. */
export interface Frame {
  payload?: Buffer;
  readonly performative: {
    /** Of an attach. */
    name: string;
    /** Of an attach: true when the client receives. */
    readonly role: boolean;
    readonly handle: number;
    readonly first: number;
    readonly last?: number;
    message_format?: number;
    target?: { readonly descriptor?: { readonly value: unknown } } | undefined;
  };
}

export interface Session {
  readonly connection: Connection;
  readonly outgoing: {
    readonly next_delivery_id: number;
    readonly next_pending_delivery: number;
    available(): number;
    transfer_window(): number;
  };
  readonly remote: { readonly handles: Readonly<Record<number, Receiver | undefined>> };
  create_link(name: string, constructor: unknown, options: unknown): Link;
  on_transfer(frame: Frame): void;
  on_attach(frame: Frame): void;
  on_disposition(frame: Frame): void;
  on_flow(frame: Frame): void;
}

/** A decoded request to the $cbs node or a $management node. */
export interface RequestMessage {
  readonly message_id?: string | number | Buffer;
  readonly reply_to?: string;
  readonly application_properties?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface EventContext {
  readonly session: Session;
  readonly sender: Sender;
  readonly receiver: Receiver;
  readonly delivery: Delivery;
  /** Of an error event. */
  readonly error?: Partial<WireError>;
  /** The encoded message: `guardSession` keeps rhea from decoding it. */
  readonly message: Buffer;
}

export interface Connection {
  input: (bytes: Buffer) => void;
  output: () => void;
  readonly frame_size?: number;
  readonly transport: { read(input: Buffer): number };
  readonly remote: { readonly open?: unknown };
  accept(socket: Socket): void;
  open(): void;
  close(error?: WireError): void;
  /** Called when nothing has come for too long. */
  idle: () => void;
  is_open(): boolean;
  is_closed(): boolean;
  eof(): void;
  on(event: string, handler: (context: EventContext) => void): void;
  _register(): void;
  _process(): void;
}

interface Mechanism {
  start(response: Buffer | null | undefined): void;
  outcome?: boolean;
}

interface Container {
  readonly sasl_server_mechanisms: Record<string, () => Mechanism>;
  create_connection(options: object): Connection;
  on(event: string, handler: (error: unknown) => void): void;
}

interface OutcomeFactories {
  accepted(): { described(): Typed };
  rejected(fields: { readonly error?: WireError }): { described(): Typed };
}

const outcomes = rhea.message as unknown as OutcomeFactories;

/** Decodes a request; its sections must have been checked. */
export function decodeRequest(encoded: Buffer): RequestMessage {
  return rhea.message.decode(encoded) as unknown as RequestMessage;
}

/** The outcome of everything that went well; shared, because it is only ever written. */
export const accepted: Typed = outcomes.accepted().described();

/** The answer to a client that rejects: its wish was met. */
export const rejectedAsAsked: Typed = outcomes.rejected({}).described();

/** The outcome of what was refused. */
export function rejected(error: WireError): Typed {
  return outcomes.rejected({ error }).described();
}

interface TypeFactories {
  wrap(value: unknown): Typed;
  wrap_int(value: number): Typed;
  wrap_symbol(value: string): Typed;
  wrap_uuid(value: Buffer): Typed;
  wrap_array(values: readonly unknown[], typeCode: number, descriptor?: undefined): Typed;
  readonly Writer: new () => { write(value: Typed): void; toBuffer(): Buffer };
}

/** Makes values of AMQP types that JavaScript does not tell apart. */
export const types = rhea.types as unknown as TypeFactories;

/** Encodes one value as AMQP. */
export function encodeValue(value: unknown): Buffer {
  const writer = new types.Writer();
  writer.write(types.wrap(value));
  return Buffer.from(writer.toBuffer());
}

/** The mechanisms that ask for nothing: who such a client is, its $cbs tokens tell. */
const openMechanisms = ['ANONYMOUS', 'MSSBCBS', 'EXTERNAL'];

/** What a connection needs of its surroundings. */
export interface ConnectionParts {
  readonly options: object;
  /** An error that nobody handles must not end the process. */
  readonly onError: (error: unknown) => void;
  /** Whether a client may sign in with this name and password. */
  readonly signIn: (name: string, password: string) => boolean;
}

/** A connection that waits for its socket. */
export function createConnection({ options, onError, signIn }: ConnectionParts): Connection {
  const container = rhea.create_container({ id: 'embedded-service-bus' }) as unknown as Container;
  for (const mechanism of openMechanisms) {
    container.sasl_server_mechanisms[mechanism] = () => ({
      start() {
        this.outcome = true;
      },
    });
  }
  container.sasl_server_mechanisms['PLAIN'] = () => ({
    start(response) {
      const [, name = '', password = ''] = response?.toString('utf8').split('\u0000') ?? [];
      this.outcome = signIn(name, password);
    },
  });
  container.on('error', onError);
  return container.create_connection(options);
}
