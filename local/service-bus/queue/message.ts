/** A message as a queue keeps it, and what happens to it as records. */

/** A peek-lock. */
export interface Lock {
  readonly token: string;
  readonly until: number;
}

/** What a message waits for: a receiver, a receive by sequence number, or its time. */
export type MessageState = 'active' | 'deferred' | 'scheduled';

/** One message of one queue. */
export interface Message {
  readonly sequence: number;
  /** The sequence number it had before it was activated or forwarded; 0 if neither has happened. */
  readonly enqueueSequence: number;
  readonly messageId: string;
  /** The encoded message; only its application properties ever change. */
  raw: Buffer;
  readonly enqueuedAt: number;
  /** Infinity: never. */
  readonly expiresAt: number;
  /** The sender's time to live, for when the message is enqueued anew. */
  readonly timeToLiveMs: number | undefined;
  /** 0: not scheduled. */
  readonly scheduledFor: number;
  readonly wasScheduled: boolean;
  /** The queue whose dead letter this is; empty when it is none. */
  readonly deadLetterSource: string;
  state: MessageState;
  deliveryCount: number;
  lock: Lock | undefined;
  /** True once it has left the queue; heaps drop such entries when they meet them. */
  removed: boolean;
}

/**
 * A change, absolute, so that replaying one whose effect is already there changes nothing.
 * A lock is recorded as the delivery count to go on with if its outcome never comes.
 */
export type QueueRecord =
  | { readonly kind: 'put'; readonly queue: string; readonly message: Message }
  | { readonly kind: 'remove'; readonly queue: string; readonly sequence: number }
  | {
      readonly kind: 'state';
      readonly queue: string;
      readonly sequence: number;
      readonly state: MessageState;
      readonly deliveryCount: number;
    }
  | { readonly kind: 'remember'; readonly queue: string; readonly messageId: string; readonly until: number }
  | { readonly kind: 'next'; readonly queue: string; readonly sequence: number };
