// Prints the names of the functions that a staged package registers, one JSON array: `node infra/package/list-functions.mjs <folder>`.
// The package is loaded as the Functions worker loads it, so a missing file or dependency fails here and not in Azure.

import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2] ?? '.');
const readInfra = (file) => JSON.parse(readFileSync(join(import.meta.dirname, '..', file), 'utf8'));
for (const name of readInfra('remote-services.json')) process.env[`${name.toUpperCase()}_URL`] = 'https://any.example/';
Object.assign(process.env, readInfra('app-settings.json'), {
  APPLICATIONS: 'any',
  ServiceBusConnection__fullyQualifiedNamespace: 'any.example',
  COSMOS_ENDPOINT: 'https://any.example/',
  COSMOS_DATABASE: 'any',
  DEMO_REMOTES_ENABLED: process.env.DEMO_REMOTES_ENABLED || 'true',
});

const names = [];
const core = {
  version: 'any',
  hostVersion: 'any',
  Disposable: { from: () => undefined },
  registerFunction: (metadata) => names.push(metadata.name),
  registerHook: () => undefined,
  setProgrammingModel: () => undefined,
  getProgrammingModel: () => undefined,
  log: () => undefined,
};

// The worker offers its core module in the same way: no package of that name exists.
const requireModule = Module.prototype.require;
Module.prototype.require = function requireOrCore(id) {
  return id === '@azure/functions-core' ? core : requireModule.call(this, id);
};

const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
await import(pathToFileURL(join(folder, main)).href);
console.log(JSON.stringify(names.sort()));
// Clients of the app may hold timers.
process.exit(0);
