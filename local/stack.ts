/**
 * The local stack: Service Bus, Cosmos DB and the Functions host with the app, each in a process of its own.
 * It is what Azure would be to the app; the app runs unchanged, through its real SDK clients and its settings.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FaultPlan } from './faults/index.js';
import { requireGoodSettings } from './app-health.js';
import { ManagedPart } from './managed-part.js';
import type { PartEnd } from './part-process.js';
import type { Counters, PartName } from './part-protocol.js';
import { findPartEntry, findProjectRoot, readJsonFile } from './project.js';
import {
  appSettings,
  readSampleSettings,
  sampleHostPort,
  type Settings,
  type StackAddresses,
} from './stack-settings.js';

export type { PartName } from './part-protocol.js';

/** What a stack can be given; everything has a default. */
export interface StackOptions {
  /** Where the parts keep their data; without it a temporary directory that `stop` removes. */
  readonly dataDirectory?: string;
  /** 'never' (default) survives the death of any process, 'always' a power loss too. */
  readonly fsync?: 'never' | 'always';
  /** Fixed ports; a part without one takes a free one. */
  readonly ports?: Readonly<Partial<Record<PartName, number>>>;
  /** App settings that win over all others. */
  readonly settings?: Settings;
  /** Faults from the start on; `setFaults` replaces them. */
  readonly faults?: Readonly<Partial<Record<PartName, FaultPlan>>>;
  /** Where the output of the parts goes; default 'silent'. */
  readonly log?: 'inherit' | 'silent' | ((line: string) => void);
  /** False leaves the Functions host out, for an app that runs elsewhere (`func start`); default true. */
  readonly host?: boolean;
  /** A broker and a Cosmos DB that run elsewhere; then only the host is started. */
  readonly external?: Omit<StackAddresses, 'hostUrl'>;
  /** The function app: a folder with package.json, host.json and local.settings.sample.json; default this project. */
  readonly appDirectory?: string;
  /** Queues and containers; default infra/topology.json. */
  readonly topology?: unknown;
  /** Called when a part ends although nobody ended it. */
  readonly onUnexpectedEnd?: (part: PartName, end: PartEnd) => void;
}

/** A running stack. */
export interface Stack extends StackAddresses {
  readonly dataDirectory: string;
  /** Opens HTTP functions of authLevel 'function' (header `x-functions-key`); Core Tools asks for none. */
  readonly hostKey: string | undefined;
  /** The app's settings, as the host has them or as `func start` needs them. */
  readonly settings: Settings;
  pid(part: PartName): number;
  /** SIGKILL, as a crash would end it. */
  kill(part: PartName): Promise<void>;
  /** Starts a killed part again, or stops and starts a running one: same port, same data, same options. */
  restart(part: PartName): Promise<void>;
  /** Replaces the faults of a part; without a plan it has none. They outlive a restart. */
  setFaults(part: PartName, plan?: FaultPlan): Promise<void>;
  counters(part: PartName): Promise<Counters>;
  /** Stops every part; the host first, so that it can finish what it holds. */
  stop(): Promise<void>;
}

/** Starts the stack and resolves once every part is ready. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const root = findProjectRoot();
  const { topology = readJsonFile(join(root, 'infra', 'topology.json'), 'the topology') } = options;
  const { appDirectory = root, host: withHost = true } = options;
  const sample = readSampleSettings(appDirectory);
  const data = openDataDirectory(options.dataDirectory);
  const part = createPartFactory(options, { entry: findPartEntry(root), dataDirectory: data.path });

  const serviceBus = part('service-bus', () => ({ topology }));
  const cosmosDb = part('cosmos-db', () => ({ topology }));
  const embedded = (): Omit<StackAddresses, 'hostUrl'> => ({
    connectionString: serviceBus.info.connectionString,
    cosmosEndpoint: cosmosDb.info.endpoint,
    cosmosKey: cosmosDb.info.key,
  });
  const addresses = (hostUrl: string): StackAddresses => ({ ...(options.external ?? embedded()), hostUrl });
  const settings = (hostUrl: string): Settings => appSettings(sample, addresses(hostUrl), options.settings);
  const functionsHost = part('functions-host', (port) => ({
    appDirectory,
    settings: settings(localUrl(port)),
    onlyProblems: options.log === undefined || options.log === 'silent',
  }));

  const parts: Parts = { 'service-bus': serviceBus, 'cosmos-db': cosmosDb, 'functions-host': functionsHost };
  const stop = async (): Promise<void> => {
    await functionsHost.stop();
    await Promise.all([serviceBus.stop(), cosmosDb.stop()]);
    data.release();
  };
  try {
    if (options.external === undefined) await settleAll([serviceBus.start(), cosmosDb.start()]);
    if (withHost) await functionsHost.start().then(() => requireGoodSettings(functionsHost.info));
  } catch (error) {
    await stop();
    throw error;
  }
  const { url: hostUrl, hostKey } = withHost ? functionsHost.info : expectedHost(options);
  const own = { dataDirectory: data.path, hostKey, settings: settings(hostUrl) };
  return { ...addresses(hostUrl), ...own, ...controls(parts), stop };
}

/** Where an app that is started by other means will be. */
function expectedHost({ ports }: StackOptions): { readonly url: string; readonly hostKey: undefined } {
  return { url: localUrl(ports?.['functions-host'] ?? sampleHostPort), hostKey: undefined };
}

type Parts = { readonly [Name in PartName]: ManagedPart<Name> };

function controls(parts: Parts): Pick<Stack, 'pid' | 'kill' | 'restart' | 'setFaults' | 'counters'> {
  return {
    pid: (part) => parts[part].pid,
    kill: (part) => parts[part].kill(),
    restart: (part) => parts[part].restart(),
    setFaults: (part, plan) => parts[part].setFaults(plan),
    counters: (part) => parts[part].counters(),
  };
}

type PartFactory = <Name extends PartName>(name: Name, own: (port: number) => object) => ManagedPart<Name>;

function createPartFactory(options: StackOptions, place: { entry: string; dataDirectory: string }): PartFactory {
  const { fsync = 'never', ports, faults, log = 'silent', onUnexpectedEnd } = options;
  const environment = partEnvironment(process.env);
  return (name, own) =>
    new ManagedPart({
      name,
      entry: place.entry,
      environment,
      port: ports?.[name],
      faults: faults?.[name],
      options: (port) => ({ dataDirectory: join(place.dataDirectory, name), fsync, ...own(port) }),
      onLine: lineSink(log, name),
      onUnexpectedEnd: (end) => onUnexpectedEnd?.(name, end),
    });
}

function lineSink(log: NonNullable<StackOptions['log']>, name: PartName): (line: string) => void {
  if (log === 'silent') return () => undefined;
  if (log === 'inherit') return (line) => process.stdout.write(`[${name}] ${line}\n`);
  return (line) => {
    log(`[${name}] ${line}`);
  };
}

/** What a part's process sees of our environment: nothing by which a shell's settings could reach the app. */
function partEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = ['PATH', 'HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'TZ', 'NODE_OPTIONS'];
  return Object.fromEntries(passed.filter((name) => own[name] !== undefined).map((name) => [name, own[name]]));
}

function openDataDirectory(requested: string | undefined): { readonly path: string; release(): void } {
  if (requested !== undefined) {
    const path = resolve(requested);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return { path, release: () => undefined };
  }
  const path = mkdtempSync(join(tmpdir(), 'local-stack-'));
  return {
    path,
    release() {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Waits for all, then throws the first failure: nothing may still be starting when the rest is stopped. */
async function settleAll(starting: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(starting)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
