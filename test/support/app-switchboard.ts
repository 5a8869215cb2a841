/** Which calls to a scripted remote service misbehave, and how. */

/** How a call misbehaves. */
export type Disturbance =
  /** Never answered, and nothing is done. */
  | 'silence'
  /** Done, but never answered. */
  | 'silenceAfterEffect'
  /** Done, but answered with 503: the caller cannot tell. */
  | 'unavailableAfterEffect'
  /** Waits until it is released, then goes on well. */
  | 'hold'
  /** Answered with this status, and nothing is done. Without a code the answer is the page of a gateway. */
  | { readonly status: number; readonly code?: string };

/** Makes calls of one order misbehave. */
export interface Script {
  readonly orderId: string;
  readonly service: string;
  /** Any operation of the service when absent. */
  readonly operation?: string;
  readonly disturbance: Disturbance;
  /** How many calls; all when absent. */
  readonly times?: number;
}

interface Matchable {
  readonly orderId: string;
  readonly service: string;
  readonly operation: string;
}

/** Knows the scripts. */
export interface Switchboard {
  add(script: Script): void;
  /** How this call misbehaves, once it is no longer held; `undefined`: it does not. */
  disturbance(call: Matchable): Promise<Exclude<Disturbance, 'hold'> | undefined>;
  release(orderId: string): void;
}

/** Creates a switchboard without scripts. */
export function createSwitchboard(): Switchboard {
  const armed: { readonly script: Script; left: number }[] = [];
  const held: { readonly orderId: string; readonly go: () => void }[] = [];
  return {
    add(script) {
      armed.push({ script, left: script.times ?? Infinity });
    },
    async disturbance(call) {
      const hit = armed.find(({ script, left }) => left > 0 && fits(script, call));
      if (hit === undefined) return undefined;
      hit.left -= 1;
      const { disturbance } = hit.script;
      if (disturbance !== 'hold') return disturbance;
      await new Promise<void>((go) => held.push({ orderId: call.orderId, go }));
      return undefined;
    },
    release(orderId) {
      for (const entry of armed) {
        if (entry.script.orderId === orderId && entry.script.disturbance === 'hold') entry.left = 0;
      }
      for (const hold of held) if (hold.orderId === orderId) hold.go();
    },
  };
}

function fits(script: Script, call: Matchable): boolean {
  return (
    script.orderId === call.orderId &&
    script.service === call.service &&
    (script.operation === undefined || script.operation === call.operation)
  );
}
