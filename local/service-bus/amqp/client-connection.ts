/**
 * One client's connection: its grants, its reply links, and the guards that keep what it does wrong to itself.
 *
 * Invariants
 * G1 Whatever bytes arrive, only this connection ends.
 * G2 What a client makes the broker hold is bounded: frames, unread answers, time to introduce itself.
 */
import type { Socket } from 'node:net';
import { createClaims, type Claims } from '../auth/claims.js';
import type { BrokerContext } from '../context.js';
import { wireErrors, type WireError } from '../errors.js';
import { limits } from '../limits.js';
import { checkFrames } from '../wire/frame-check.js';
import { foreignProtocol } from './foreign-protocol.js';
import type { Connection, Delivery, Sender } from './rhea.js';

export class ClientConnection {
  readonly claims: Claims = createClaims();
  /** Links on which replies of $cbs and $management go out, by link name and by the address the client gave. */
  readonly replyLinks = new Map<string, Sender>();
  readonly connection: Connection;
  readonly #context: BrokerContext;
  readonly #socket: Socket;
  readonly #onClosed = new Set<() => void>();
  readonly #onDrained = new Set<() => void>();
  #settled: Delivery[] = [];

  constructor(context: BrokerContext, connection: Connection, socket: Socket) {
    this.#context = context;
    this.connection = connection;
    this.#socket = socket;
  }

  /** Starts to serve the client. */
  accept(): void {
    const { connection } = this;
    const socket = this.#socket;
    this.#guardInput();
    for (const event of ['error', 'protocol_error']) {
      connection.on(event, (error) => {
        this.#endWith(error);
      });
    }
    for (const event of ['connection_error', 'disconnected', 'session_error', 'sender_error', 'receiver_error']) {
      connection.on(event, () => undefined); // rhea takes an unheard one for a crash; `close` below cleans up.
    }
    connection.on('connection_open', () => {
      clearTimeout(handshake);
      this.#batchOutput();
    });
    const handshake = setTimeout(this.cut, limits.handshakeMs).unref();
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

  /** Ends the connection with an error that the client can read. */
  end(error: WireError): void {
    if (this.connection.is_open()) this.connection.close(error);
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
      const answer = isFirst ? foreignProtocol(bytes) : undefined;
      isFirst = false;
      if (answer !== undefined) {
        this.#context.counters.add('', 'refusedConnections');
        this.#socket.end(answer);
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
      checkFrames(input, limits.maxFrameBytes);
      return read(input);
    };
  }

  /** Frames of one turn go out in one write, and a client that does not read is not read (G2). */
  #batchOutput(): void {
    const { connection } = this;
    const socket = this.#socket;
    const write = connection.output.bind(connection);
    let isScheduled = false;
    connection.output = () => {
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

  #endWith(error: unknown): void {
    this.#context.counters.add('', 'protocolErrors');
    this.end(wireErrors.framing(error instanceof Error ? error.message : 'The frame could not be read.'));
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
