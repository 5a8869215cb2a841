/** Timers in memory: each fires once when its time has come, never before. */

/** Alarms by name. */
export interface Timers {
  set(name: string, at: number, fire: () => void): void;
  clear(name: string): void;
  clearAll(): void;
}

/** Longest delay that Node's timers take. */
const maxDelayMs = 2 ** 31 - 1;

/** Creates an empty set of timers. */
export function createTimers(): Timers {
  const armed = new Map<string, NodeJS.Timeout>();

  function arm(name: string, at: number, fire: () => void): void {
    const delay = Math.min(Math.max(at - Date.now(), 0), maxDelayMs);
    const timeout = setTimeout(() => {
      if (Date.now() < at) {
        arm(name, at, fire);
        return;
      }
      armed.delete(name);
      fire();
    }, delay);
    armed.set(name, timeout);
  }

  return {
    set(name, at, fire) {
      clearTimeout(armed.get(name));
      arm(name, at, fire);
    },
    clear(name) {
      clearTimeout(armed.get(name));
      armed.delete(name);
    },
    clearAll() {
      for (const timeout of armed.values()) clearTimeout(timeout);
      armed.clear();
    },
  };
}
