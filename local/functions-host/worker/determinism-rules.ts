/**
 * What an orchestrator must not call, because a replay would see another value or do it again. Each rule says what to use
 * instead. The functions are replaced only while an orchestrator's own code runs.
 */

/** Told of each forbidden call: what was called, and what to use instead. */
export type ReportCall = (call: string, instead: string) => void;

/** Replaces one function while the guard is on. */
export interface Replacement {
  readonly owner: Record<string, unknown>;
  readonly name: string;
  readonly original: unknown;
  readonly guarded: unknown;
}

const useClock = 'Use context.df.currentUtcDateTime.';
const useGuid = 'Use context.df.newGuid, or make the value in an activity.';
const useTimer = 'Yield context.df.createTimer.';
const useActivity = 'Do it in an activity and yield its task.';

const functions: readonly {
  readonly owner: object;
  readonly path: string;
  readonly names: readonly string[];
  readonly instead: string;
}[] = [
  { owner: Date, path: 'Date', names: ['now'], instead: useClock },
  { owner: performance, path: 'performance', names: ['now'], instead: useClock },
  { owner: Math, path: 'Math', names: ['random'], instead: useGuid },
  { owner: crypto, path: 'crypto', names: ['randomUUID', 'getRandomValues'], instead: useGuid },
  { owner: globalThis, path: '', names: ['setTimeout', 'setInterval', 'setImmediate'], instead: useTimer },
  { owner: globalThis, path: '', names: ['queueMicrotask', 'fetch'], instead: useActivity },
  { owner: process, path: 'process', names: ['nextTick'], instead: useActivity },
  { owner: process, path: 'process', names: ['hrtime'], instead: useClock },
];

/** All replacements; each guarded function reports and then does what the original does. */
export function createReplacements(report: ReportCall): Replacement[] {
  const guarded = functions.flatMap(({ owner, path, names, instead }) =>
    names.map((name) => {
      const holder = owner as Record<string, unknown>;
      const original = holder[name] as (...args: unknown[]) => unknown;
      const call = path === '' ? `${name}()` : `${path}.${name}()`;
      const replacement = function (this: unknown, ...args: unknown[]): unknown {
        report(call, instead);
        return original.apply(this, args);
      };
      return { owner: holder, name, original, guarded: Object.assign(replacement, original) };
    }),
  );
  return [...guarded, guardedDate(report)];
}

/** `new Date()` reads the clock; `new Date(time)` does not. */
function guardedDate(report: ReportCall): Replacement {
  const guarded = new Proxy(Date, {
    construct(target, args, newTarget) {
      if (args.length === 0) report('new Date()', useClock);
      return Reflect.construct(target, args, newTarget) as object;
    },
    apply() {
      report('Date()', useClock);
      return String(new Date());
    },
  });
  return { owner: globalThis, name: 'Date', original: Date, guarded };
}
