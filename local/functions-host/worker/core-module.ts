/**
 * Puts `@azure/functions-core` into the module loader, where the `@azure/functions` library looks for it.
 * The library asks once, on its first use, and keeps the answer for the life of the thread: the module must be there
 * before the app loads.
 */
import Module from 'node:module';

const coreModuleId = '@azure/functions-core';

/** Makes `require('@azure/functions-core')` return this object, in CommonJS and ES module apps alike. */
export function installCoreModule(coreApi: object): void {
  const loaders = Module.prototype as { require: (this: unknown, id: string) => unknown };
  const requireOriginal = loaders.require;
  loaders.require = function requireWithCore(id) {
    return id === coreModuleId ? coreApi : requireOriginal.call(this, id);
  };
}
