/** What a queue is told to do; every duration in milliseconds. */
export interface QueueSettings {
  readonly name: string;
  readonly lockDurationMs: number;
  readonly maxDeliveryCount: number;
  /** Infinity: messages do not expire. */
  readonly defaultTimeToLiveMs: number;
  readonly deadLetterOnExpiration: boolean;
  /** 0: duplicates are not detected. */
  readonly duplicateWindowMs: number;
  readonly maxSizeBytes: number;
  readonly forwardTo: string | undefined;
  readonly forwardDeadLettersTo: string | undefined;
}
