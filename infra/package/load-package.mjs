// Loads an app's folder as the Functions worker does, with settings that are complete but lead nowhere.

import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const infra = join(import.meta.dirname, '..');

/** The names of the functions that the app in the folder registers; rejects if a file or a dependency is missing. */
export async function loadPackage(folder) {
  Object.assign(process.env, settings());
  const names = [];
  offerCore({ registerFunction: ({ name }) => names.push(name) });
  const { main } = readJson(join(folder, 'package.json'));
  await import(pathToFileURL(join(folder, main)).href);
  return names.sort();
}

function settings() {
  const services = readJson(join(infra, 'remote-services.json'));
  return {
    ...Object.fromEntries(services.map((name) => [`${name.toUpperCase()}_URL`, 'https://any.example/'])),
    ...readJson(join(infra, 'app-settings.json')),
    APPLICATIONS: 'any',
    ServiceBusConnection__fullyQualifiedNamespace: 'any.example',
    COSMOS_ENDPOINT: 'https://any.example/',
    COSMOS_DATABASE: 'any',
    DEMO_REMOTES_ENABLED: process.env.DEMO_REMOTES_ENABLED || 'true',
  };
}

/** The worker offers its core module in the same way: no package of that name exists. */
function offerCore(own) {
  const core = {
    version: 'any',
    hostVersion: 'any',
    Disposable: { from: () => undefined },
    registerHook: () => undefined,
    setProgrammingModel: () => undefined,
    getProgrammingModel: () => undefined,
    log: () => undefined,
    ...own,
  };
  const requireModule = Module.prototype.require;
  Module.prototype.require = function requireOrCore(id) {
    return id === '@azure/functions-core' ? core : requireModule.call(this, id);
  };
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
