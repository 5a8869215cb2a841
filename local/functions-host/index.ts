/**
 * A local host for Azure Functions apps in Node's v4 programming model: it drives the real `@azure/functions` invocation
 * model and the real `durable-functions` replay engine and client, without Core Tools. See README.md for what it supports.
 */
import { startHost } from './host.js';
import type { FunctionsHost, FunctionsHostOptions } from './types.js';

export type { FunctionsHost, FunctionsHostOptions };

/** Starts the host. Rejects when the app cannot run here, with what to do about it. */
export function startFunctionsHost(options: FunctionsHostOptions): Promise<FunctionsHost> {
  return startHost(options);
}
