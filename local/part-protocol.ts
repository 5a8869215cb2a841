/** What the stack and the process of a part say to each other over IPC. Both ends come from the same build. */
import type { FaultPlan } from './faults/index.js';

/** The parts of the local stack; each runs in a process of its own. */
export const partNames = ['service-bus', 'cosmos-db', 'functions-host'] as const;
export type PartName = (typeof partNames)[number];

/** What each part tells when it is ready. */
export interface PartInfos {
  readonly 'service-bus': { readonly port: number; readonly connectionString: string };
  readonly 'cosmos-db': { readonly port: number; readonly endpoint: string; readonly key: string };
  readonly 'functions-host': { readonly port: number; readonly url: string; readonly hostKey: string };
}

/** Hits, operations and whatever else a part counts, by name. */
export type Counters = Readonly<Record<string, number>>;

/** What is asked of a running part. */
export type PartRequest =
  | { readonly verb: 'counters' }
  | { readonly verb: 'faults'; readonly plan: FaultPlan | undefined }
  | { readonly verb: 'stop' };

export type MessageToPart =
  | { readonly kind: 'start'; readonly options: unknown }
  | { readonly kind: 'request'; readonly id: number; readonly request: PartRequest };

export type MessageFromPart =
  | { readonly kind: 'ready'; readonly info: unknown }
  | { readonly kind: 'failed'; readonly message: string; readonly portIsTaken: boolean }
  /** It has run and cannot go on, for a reason that a restart does not mend; it ends now. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly message: string };
