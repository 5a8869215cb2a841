/** The embedded Cosmos DB (NoSQL API) for the unmodified client: a REST server on 127.0.0.1. See README.md. */
import type { FaultPlan } from '../faults/index.js';
import { createFaults } from '../faults/index.js';
import { StorageError } from '../journal/index.js';
import { createAuthenticate, EMULATOR_KEY } from './auth.js';
import { createCounters } from './counters.js';
import { checkFaultPlan } from './fault-gate.js';
import { startHttpServer } from './http-server.js';
import { createService } from './service.js';
import { startSweeping, sweepExpired } from './store/expiry-sweep.js';
import { openStore } from './store/store.js';
import { createThroughput } from './throughput.js';
import { readTopology } from './topology.js';

export interface CosmosDbOptions {
  /** Absent or 0: a free port. */
  readonly port?: number;
  /** Directory of the journal. */
  readonly dataDirectory: string;
  readonly fsync: 'never' | 'always';
  /** The parsed infra/topology.json. */
  readonly topology: unknown;
  /** In base64; default: the emulators' well-known key. */
  readonly key?: string;
  /** Of each container; default 2. */
  readonly physicalPartitions?: number;
  /** Modelled request units a second of each container; absent: no limit. */
  readonly throughput?: number;
  readonly faults?: FaultPlan;
  /** Called once when nothing can be stored any more; absent: requests fail from then on. */
  readonly onStorageFailure?: (error: Error) => void;
}

export interface CosmosDb {
  readonly port: number;
  readonly endpoint: string;
  readonly key: string;
  /** Operations and modelled request units by container, faults by rule. */
  counters(): Record<string, number>;
  /** Replaces the fault rules; without a plan there are none. */
  setFaults(plan?: FaultPlan): void;
  close(): Promise<void>;
}

const DEFAULT_PARTITIONS = 2;
const MAX_PARTITIONS = 64;

function checkOptions({ physicalPartitions = DEFAULT_PARTITIONS, throughput }: CosmosDbOptions): void {
  if (!Number.isInteger(physicalPartitions) || physicalPartitions < 1 || physicalPartitions > MAX_PARTITIONS) {
    throw new Error(`physicalPartitions is no whole number from 1 to ${MAX_PARTITIONS}: ${physicalPartitions}`);
  }
  if (throughput !== undefined && !(throughput > 0)) throw new Error(`throughput is no number above 0: ${throughput}`);
}

function reportInternalError(error: unknown, { onStorageFailure }: CosmosDbOptions): void {
  if (error instanceof StorageError && onStorageFailure !== undefined) return; // It was told of that once.
  process.stderr.write(
    `Embedded Cosmos DB, internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}

/** Starts the server; resolves when it accepts connections. */
export async function startCosmosDb(options: CosmosDbOptions): Promise<CosmosDb> {
  checkOptions(options);
  checkFaultPlan(options.faults);
  const { key = EMULATOR_KEY, physicalPartitions = DEFAULT_PARTITIONS } = options;
  const store = await openStore({
    dataDirectory: options.dataDirectory,
    fsync: options.fsync,
    onFailure: options.onStorageFailure,
    topology: readTopology(options.topology),
    physicalPartitions,
  });
  sweepExpired(store, Date.now());
  const stopSweeping = startSweeping(store);
  const faults = createFaults(options.faults);
  const counters = createCounters();
  const onInternalError = (error: unknown): void => {
    reportInternalError(error, options);
  };
  const service = createService({
    authenticate: createAuthenticate(key),
    faults,
    counters,
    throughput: createThroughput(options.throughput),
    onInternalError,
  });
  const parts = { service, store, now: () => Date.now(), onInternalError };
  const server = await startHttpServer(options.port ?? 0, parts).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    stopSweeping();
    faults.replace();
    await server.close();
    await store.close();
  };
  let closing: Promise<void> | undefined;
  return {
    port: server.port,
    endpoint: `http://127.0.0.1:${server.port}/`,
    key,
    counters: () => ({ ...counters.read(), ...faults.counters() }),
    setFaults(plan) {
      checkFaultPlan(plan);
      faults.replace(plan);
    },
    close: () => (closing ??= close()),
  };
}
