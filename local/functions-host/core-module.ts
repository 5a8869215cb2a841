/**
 * Puts `@azure/functions-core` into the module loader, where the `@azure/functions` library looks for it.
 * The library asks once, on its first use, and keeps the answer for the life of the process: the module must be there
 * before the app loads, and there can be only one host in a process.
 */
import Module from 'node:module';

const coreModuleId = '@azure/functions-core';

let isInstalled = false;

/** Makes `require('@azure/functions-core')` answer with this object, in CommonJS and ES module apps alike. */
export function installCoreModule(coreApi: object): void {
  if (isInstalled) {
    throw new Error(
      'A Functions host has already run in this process, and the @azure/functions library can be used by one only. ' +
        'Start the second host in a process of its own.',
    );
  }
  isInstalled = true;
  const loaders = Module.prototype as { require: (this: unknown, id: string) => unknown };
  const requireOriginal = loaders.require;
  loaders.require = function requireWithCore(id) {
    return id === coreModuleId ? coreApi : requireOriginal.call(this, id);
  };
}
