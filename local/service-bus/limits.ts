/** Limits of the service, and of what one client may make the broker hold. */
export const limits = {
  /** Of a message or batch, as Azure's standard tier has it. */
  maxMessageBytes: 256 * 1024,
  /** Of a request to $cbs or $management: room for the largest batch to schedule and what is put around its messages. */
  maxRequestBytes: 1024 * 1024,
  maxMessageIdLength: 128,
  /** Of one application property, name and value. */
  maxPropertyBytes: 32 * 1024,
  /** Of everything before a message's body. */
  maxHeadBytes: 64 * 1024,
  maxFrameBytes: 65_536,
  maxChannels: 4999,
  idleTimeoutMs: 120_000,
  /** Time for a connection to say what it is. */
  handshakeMs: 20_000,
  /** Time for a client to take a last frame. */
  closeMs: 1000,
  /** Messages a sender may have on the way to the broker. */
  sendCredit: 1000,
  /** A consumer gets nothing more while this much is on its way to its client. */
  consumerBacklogBytes: 1024 * 1024,
  /** A client that asks but does not read the answers is not read either beyond this. */
  connectionBacklogBytes: 8 * 1024 * 1024,
  /** A disposition that names more deliveries than a session can have is an attack on the loop that handles it. */
  maxDispositionRange: 4096,
} as const;
