/**
 * What the app registers while it loads: functions, hooks and the programming model.
 *
 * Invariants
 * R1 Nothing is registered after start-up: `lock` closes the registry for functions.
 * R2 A function name is registered once; names differ in more than case.
 */
import type { FunctionCallback, FunctionMetadata, HookCallback, LogLevel, ProgrammingModel } from '../core-api.js';

export type HookName = 'preInvocation' | 'postInvocation' | 'appStart' | 'appTerminate' | 'log';

/** A function of the app. */
export interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
}

/** The functions and hooks of the app. */
export interface Registry {
  /** The object that `require('@azure/functions-core')` gives. */
  readonly coreApi: object;
  readonly functions: ReadonlyMap<string, RegisteredFunction>;
  hooks(name: HookName): readonly HookCallback[];
  programmingModel(): ProgrammingModel;
  lock(): void;
}

const hookNames: ReadonlySet<string> = new Set(['preInvocation', 'postInvocation', 'appStart', 'appTerminate', 'log']);
const versionOfHost = '4.1000.0';

/** Creates an empty registry; `log` takes what the library itself has to say. */
export function createRegistry(log: (level: LogLevel, category: string, message: string) => void): Registry {
  const functions = new Map<string, RegisteredFunction>();
  const hooks = new Map<string, HookCallback[]>();
  let isLocked = false;
  let model: ProgrammingModel | undefined;

  const coreApi = {
    version: versionOfHost,
    hostVersion: versionOfHost,
    Disposable: CoreDisposable,
    log,
    registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): CoreDisposable {
      if (isLocked) {
        throw new Error(`Function "${metadata.name}" can't be registered: the app has already started.`); // R1
      }
      assertNewName(functions, metadata.name);
      functions.set(metadata.name, { metadata, callback });
      return new CoreDisposable(() => functions.delete(metadata.name));
    },
    registerHook(name: string, callback: HookCallback): CoreDisposable {
      if (!hookNames.has(name)) throw unknownHook(name);
      const registered = hooks.get(name) ?? [];
      hooks.set(name, [...registered, callback]);
      return new CoreDisposable(() => {
        hooks.set(
          name,
          (hooks.get(name) ?? []).filter((other) => other !== callback),
        );
      });
    },
    setProgrammingModel(next: ProgrammingModel): void {
      model = next;
    },
    getProgrammingModel: () => model,
  };

  return {
    coreApi,
    functions,
    hooks: (name) => hooks.get(name) ?? [],
    programmingModel() {
      if (model === undefined) throw new Error('The app has not used the @azure/functions library.');
      return model;
    },
    lock() {
      isLocked = true;
    },
  };
}

function assertNewName(functions: ReadonlyMap<string, RegisteredFunction>, name: string): void {
  const taken = [...functions.keys()].find((other) => other.toLowerCase() === name.toLowerCase());
  if (taken === undefined) return;
  throw new Error(`A function named "${taken}" is already registered. Give "${name}" a name of its own.`); // R2
}

function unknownHook(name: string): RangeError {
  return Object.assign(new RangeError(`Unrecognized hook "${name}".`), { isAzureFunctionsSystemError: true });
}

/** What a registration gives back: disposing undoes it. */
class CoreDisposable {
  readonly #undo: () => unknown;

  constructor(undo: () => unknown) {
    this.#undo = undo;
  }

  static from(...disposables: readonly { dispose(): unknown }[]): CoreDisposable {
    return new CoreDisposable(() => {
      for (const disposable of disposables) disposable.dispose();
    });
  }

  dispose(): void {
    this.#undo();
  }
}
