/**
 * Reads host.json: what the local host applies, what it accepts without effect, and what nobody knows (reported, so that
 * a misspelled option does not pass in silence).
 */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { resolveExpressions, type Variables } from './settings.js';
import { parseTimeSpan } from './time-span.js';

/** The options of host.json that the local host applies. */
export interface HostOptions {
  readonly routePrefix: string;
  readonly functionTimeoutMs: number | undefined;
  readonly serviceBus: {
    readonly autoCompleteMessages: boolean;
    readonly maxConcurrentCalls: number;
    readonly maxAutoLockRenewalMs: number;
  };
  readonly durableTask: DurableTaskOptions;
  /** What the user should know about the file, one line each. */
  readonly reports: readonly string[];
}

/** The options under `extensions.durableTask`. */
export interface DurableTaskOptions {
  readonly hubName: string;
  readonly maxConcurrentActivities: number;
  readonly maxConcurrentOrchestrators: number;
  readonly canOverrideAnyState: boolean;
  readonly defaultVersion: string | null;
  readonly versionMatchStrategy: 'None' | 'Strict' | 'CurrentOrOlder';
  readonly versionFailureStrategy: 'Reject' | 'Fail';
}

type OptionType = 'boolean' | 'count' | 'text' | 'timeSpan';

const concurrencyPerCore = 10 * availableParallelism();
const applied: Readonly<Record<string, OptionType>> = {
  functionTimeout: 'timeSpan',
  'extensions.http.routePrefix': 'text',
  'extensions.serviceBus.autoCompleteMessages': 'boolean',
  'extensions.serviceBus.maxConcurrentCalls': 'count',
  'extensions.serviceBus.maxAutoLockRenewalDuration': 'timeSpan',
  'extensions.durableTask.hubName': 'text',
  'extensions.durableTask.maxConcurrentActivityFunctions': 'count',
  'extensions.durableTask.maxConcurrentOrchestratorFunctions': 'count',
  'extensions.durableTask.overridableExistingInstanceStates': 'text',
  'extensions.durableTask.defaultVersion': 'text',
  'extensions.durableTask.versionMatchStrategy': 'text',
  'extensions.durableTask.versionFailureStrategy': 'text',
};

/** Options of Azure that change nothing here; a name covers everything below it. */
const accepted = [
  'version',
  '$schema',
  'logging',
  'telemetryMode',
  'extensionBundle',
  'aggregator',
  'healthMonitor',
  'concurrency',
  'singleton',
  'watchDirectories',
  'watchFiles',
  'managedDependency',
  'extensions.http.maxOutstandingRequests',
  'extensions.http.maxConcurrentRequests',
  'extensions.http.dynamicThrottlesEnabled',
  'extensions.http.hsts',
  'extensions.http.customHeaders',
  'extensions.serviceBus.clientRetryOptions',
  'extensions.serviceBus.prefetchCount',
  'extensions.serviceBus.maxConcurrentSessions',
  'extensions.serviceBus.maxConcurrentCallsPerSession',
  'extensions.serviceBus.sessionIdleTimeout',
  'extensions.serviceBus.maxMessageBatchSize',
  'extensions.serviceBus.minMessageBatchSize',
  'extensions.serviceBus.maxBatchWaitTime',
  'extensions.serviceBus.transportType',
  'extensions.serviceBus.enableCrossEntityTransactions',
  'extensions.durableTask.storageProvider',
  'extensions.durableTask.tracing',
  'extensions.durableTask.notifications',
  'extensions.durableTask.extendedSessionsEnabled',
  'extensions.durableTask.extendedSessionIdleTimeoutInSeconds',
  'extensions.durableTask.useGracefulShutdown',
  'extensions.durableTask.maxOrchestrationActions',
  'extensions.durableTask.maxGrpcMessageSizeInBytes',
  'extensions.durableTask.grpcHttpClientTimeout',
  'extensions.durableTask.localRpcEndpointEnabled',
  'extensions.durableTask.storeInputsInOrchestrationHistory',
  'extensions.durableTask.maxConcurrentEntityFunctions',
  'extensions.durableTask.entityMessageReorderWindowInMinutes',
  'extensions.durableTask.maxEntityOperationBatchSize',
];

/** Reads host.json of the app; without the file the defaults of Azure hold. */
export function readHostJson(appDirectory: string, variables: Variables): HostOptions {
  const file = join(appDirectory, 'host.json');
  const content = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as unknown) : { version: '2.0' };
  return parseHostJson(content, variables);
}

/** The same over parsed content. */
export function parseHostJson(content: unknown, variables: Variables): HostOptions {
  const options = new Map<string, unknown>();
  flatten(content, '', options);
  applyOverrides(options, variables);
  const reports = [...options.keys()].flatMap((name) => report(name, options.get(name)));
  const read = <T>(name: string, fallback: T): T => (options.get(name) ?? fallback) as T;
  const timeSpan = (name: string): number | undefined => parseTimeSpan(read(name, ''));
  return {
    routePrefix: read('extensions.http.routePrefix', 'api'),
    functionTimeoutMs: timeSpan('functionTimeout'),
    serviceBus: {
      autoCompleteMessages: read('extensions.serviceBus.autoCompleteMessages', true),
      maxConcurrentCalls: read('extensions.serviceBus.maxConcurrentCalls', 16 * availableParallelism()),
      maxAutoLockRenewalMs: timeSpan('extensions.serviceBus.maxAutoLockRenewalDuration') ?? 300_000,
    },
    durableTask: durableTaskOptions(read, variables),
    reports,
  };
}

function durableTaskOptions(read: <T>(name: string, fallback: T) => T, variables: Variables): DurableTaskOptions {
  const name = (option: string): string => `extensions.durableTask.${option}`;
  const hubName = read(name('hubName'), 'TestHubName');
  return {
    hubName: resolveExpressions(hubName, 'host.json durableTask.hubName', variables),
    maxConcurrentActivities: read(name('maxConcurrentActivityFunctions'), concurrencyPerCore),
    maxConcurrentOrchestrators: read(name('maxConcurrentOrchestratorFunctions'), concurrencyPerCore),
    canOverrideAnyState: read<string>(name('overridableExistingInstanceStates'), '') === 'AnyState',
    defaultVersion: read<string | null>(name('defaultVersion'), null),
    versionMatchStrategy: read(name('versionMatchStrategy'), 'CurrentOrOlder'),
    versionFailureStrategy: read(name('versionFailureStrategy'), 'Reject'),
  };
}

function flatten(value: unknown, path: string, into: Map<string, unknown>): void {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value) && !isAccepted(path);
  if (!isGroup) {
    into.set(path, value);
    return;
  }
  for (const [key, child] of Object.entries(value)) flatten(child, path === '' ? key : `${path}.${key}`, into);
}

/** Settings named `AzureFunctionsJobHost__extensions__http__routePrefix` replace options of the file. */
function applyOverrides(options: Map<string, unknown>, variables: Variables): void {
  for (const [variable, text] of Object.entries(variables)) {
    if (!variable.startsWith('AzureFunctionsJobHost__') || text === undefined) continue;
    const path = variable.split('__').slice(1).join('.').toLowerCase();
    const name = Object.keys(applied).find((option) => option.toLowerCase() === path);
    if (name !== undefined) options.set(name, parseText(text, applied[name]));
  }
}

function parseText(text: string, type: OptionType | undefined): unknown {
  if (type === 'boolean') return text.toLowerCase() === 'true';
  return type === 'count' ? Number(text) : text;
}

function report(name: string, value: unknown): string[] {
  const type = applied[name];
  if (type === undefined) return isAccepted(name) ? [] : [`host.json: unknown option "${name}" is ignored.`];
  if (isValid(value, type)) return [];
  throw new Error(`host.json: "${name}" must be a ${type}, not ${JSON.stringify(value)}.`);
}

function isAccepted(name: string): boolean {
  return accepted.some((option) => name === option || name.startsWith(`${option}.`));
}

function isValid(value: unknown, type: OptionType): boolean {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value > 0;
    case 'text':
      return typeof value === 'string';
    case 'timeSpan':
      return typeof value === 'string' && (value === '-1' || parseTimeSpan(value) !== undefined);
  }
}
