/**
 * One client's connection: its grants, its reply links, and the guards that keep what it does wrong to itself.
 *
 * Invariants
 * G1 Whatever bytes arrive, only this connection ends.
 * G2 What a client makes the broker hold is bounded: frames, unread answers, time to introduce itself.
 * G3 A connection that the broker ends because of an error says why: to the client in a last frame, as soon as the client
 *    has come so far that it can read one, and to the broker's log.
 */
import type { Socket } from 'node:net';
import { createClaims, type Claims } from '../auth/claims.js';
import type { BrokerContext } from '../context.js';
import { wireErrors, type WireError } from '../errors.js';
import { limits } from '../limits.js';
import { checkFrames, protocolHeaderBytes, startsWithHeader } from '../wire/frame-check.js';
import { rulesWithKey } from '../auth/rules.js';
import { foreignProtocol } from './foreign-protocol.js';
import { createConnection, type Connection, type Delivery, type Sender } from './rhea.js';

const connectionOptions = {
  container_id: 'embedded-service-bus',
  max_frame_size: limits.maxFrameBytes,
  channel_max: limits.maxChannels,
  idle_time_out: limits.idleTimeoutMs,
  reconnect: false,
  sender_options: { treat_modified_as_released: false },
  receiver_options: { autoaccept: false, credit_window: 0 },
} as const;

function describe({ condition = '', description = '' }: Partial<WireError> = {}): string {
  return `${condition}: ${description}`;
}

export class ClientConnection {
  readonly claims: Claims = createClaims();
  /** Links on which replies of $cbs and $management go out, by link name and by the address the client gave. */
  readonly replyLinks = new Map<string, Sender>();
  readonly connection: Connection;
  readonly #context: BrokerContext;
  readonly #socket: Socket;
  readonly #onClosed = new Set<() => void>();
  readonly #onDrained = new Set<() => void>();
  readonly #remoteAddress: string;
  #settled: Delivery[] = [];
  #isEnding = false;

  constructor(context: BrokerContext, socket: Socket) {
    this.#context = context;
    this.#socket = socket;
    this.#remoteAddress = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? ''}`;
    this.connection = createConnection({
      options: connectionOptions,
      onError: () => {
        context.counters.add('', 'internalErrors');
      },
      signIn: (name, password) => this.#signIn(name, password),
    });
  }

  /** Starts to serve the client. */
  accept(): void {
    const { connection } = this;
    const socket = this.#socket;
    this.#guardInput();
    const idle = connection.idle.bind(connection);
    connection.idle = () => {
      this.#isEnding = true;
      this.#log('ended: nothing came from the client, not even a heartbeat.');
      idle();
    };
    for (const event of ['error', 'protocol_error']) {
      connection.on(event, (error) => {
        this.#endWith(error);
      });
    }
    connection.on('connection_error', ({ error }) => {
      this.#log(`closed by the client: ${describe(error)}`);
    });
    for (const event of ['disconnected', 'session_error', 'sender_error', 'receiver_error']) {
      connection.on(event, () => undefined); // rhea takes an unheard one for a crash; `close` below cleans up.
    }
    connection.on('connection_open', () => {
      clearTimeout(handshake);
      this.#batchOutput();
    });
    const handshake = setTimeout(() => {
      this.end(wireErrors.notOpened(limits.handshakeMs));
    }, limits.handshakeMs).unref();
    socket.on('close', () => {
      clearTimeout(handshake);
      connection.eof(); // Ends rhea's timers also where the socket was destroyed.
      for (const action of this.#onClosed) action();
    });
    socket.on('drain', () => {
      socket.resume();
      this.windowOpened();
    });
    connection.accept(socket);
    this.#guardFrames();
  }

  /** Calls `action` when the connection has ended, however it did. */
  onClosed(action: () => void): () => void {
    this.#onClosed.add(action);
    return () => this.#onClosed.delete(action);
  }

  /** Calls `action` whenever the client has read what was waiting for it. */
  onDrained(action: () => void): () => void {
    this.#onDrained.add(action);
    return () => this.#onDrained.delete(action);
  }

  /** Bytes on their way to the client. */
  backlogBytes(): number {
    return this.#socket.writableLength;
  }

  /** Ends the connection without a word, as a broken network would. */
  readonly cut = (): void => {
    this.#socket.destroy();
  };

  /** Ends the connection with an error that the client can read (G3). */
  end(error: WireError): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#log(`ended with ${describe(error)}`);
    this.connection.open(); // A close must follow an open.
    this.connection.close(error);
    this.#processNow();
    this.#endSoon();
  }

  /** Tells those who wait that the client can take more. */
  readonly windowOpened = (): void => {
    for (const action of this.#onDrained) action();
  };

  /** Runs a handler of an event; rhea would let an exception end the process (G1). */
  guard(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#context.counters.add('', 'internalErrors');
      this.end(wireErrors.internal(error instanceof Error ? error.message : String(error)));
    }
  }

  /** Frees a delivery's slot once the disposition is written: the client will not settle it a second time. */
  freeSlot(delivery: Delivery): void {
    this.#settled.push(delivery);
    if (this.#settled.length > 1) return;
    setImmediate(() => {
      for (const settled of this.#settled) settled.remote_settled = true;
      this.#settled = [];
      this.connection._register();
      // The slots are free after rhea's next turn; those who waited for one may go on then.
      process.nextTick(this.windowOpened);
    });
  }

  #guardInput(): void {
    const { connection } = this;
    const read = connection.input.bind(connection);
    let isFirst = true;
    connection.input = (bytes) => {
      if (this.#socket.destroyed) return;
      const foreign = isFirst ? foreignProtocol(bytes) : undefined;
      isFirst = false;
      if (foreign !== undefined) {
        this.#context.counters.add('', 'refusedConnections');
        this.#log(`refused: ${foreign.reason}`);
        this.#socket.end(foreign.answer);
        return;
      }
      read(bytes);
      if ((connection.frame_size ?? 0) > limits.maxFrameBytes) {
        this.#endWith(new Error(`A frame is larger than ${limits.maxFrameBytes} bytes.`));
      }
    };
  }

  /** rhea hands over all it has not read yet, so the frames are looked at before it decodes them. */
  #guardFrames(): void {
    const { transport } = this.connection;
    const read = transport.read.bind(transport);
    transport.read = (input) => {
      // First the header: without it rhea could not answer to a frame that is wrong.
      const header = startsWithHeader(input) ? read(input.subarray(0, protocolHeaderBytes)) : 0;
      const frames = input.subarray(header);
      checkFrames(frames, limits.maxFrameBytes);
      return header + read(frames);
    };
  }

  /** Frames of one turn go out in one write, and a client that does not read is not read (G2). */
  #batchOutput(): void {
    const { connection } = this;
    const socket = this.#socket;
    const write = connection.output.bind(connection);
    let isScheduled = false;
    connection.output = () => {
      // rhea forgets the error of its last frame as soon as it has written it.
      if (this.#isEnding) {
        write();
        return;
      }
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        socket.cork();
        write();
        socket.uncork();
        if (socket.writableLength > limits.connectionBacklogBytes) socket.pause();
      });
    };
  }

  /** A client's name and key in SASL PLAIN give it what the rule of that name gives, as long as it is connected. */
  #signIn(name: string, password: string): boolean {
    const rules = rulesWithKey(this.#context.rules, name, password);
    for (const { queue = '', rights } of rules) this.claims.grant(queue, { rights, expiresAt: Infinity });
    if (rules.length > 0) return true;
    this.#isEnding = true;
    this.#context.counters.add('', 'refusedTokens');
    this.#log(`refused: SASL PLAIN with '${name}', which is no rule with that key.`);
    this.#endSoon();
    return false;
  }

  #endWith(error: unknown): void {
    if (!this.#isEnding) this.#context.counters.add('', 'protocolErrors');
    this.end(wireErrors.framing(error instanceof Error ? error.message : 'The frame could not be read.'));
  }

  /** rhea ends the socket as soon as it has told of an error, so a last frame cannot wait for the next turn. */
  #processNow(): void {
    try {
      this.connection._process();
    } catch {
      this.cut(); // What is wrong with the connection keeps it from saying so.
    }
  }

  #log(what: string): void {
    this.#context.log(`Connection from ${this.#remoteAddress} ${what}`);
  }

  /** Leaves time for a last frame; the client need not answer it. */
  #endSoon(): void {
    setImmediate(() => {
      setImmediate(() => {
        this.#socket.end(this.cut);
        setTimeout(this.cut, limits.closeMs).unref();
      });
    });
  }
}
