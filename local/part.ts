/**
 * Entry of the process of one part:
 *
 *   node dist/local/part.js <service-bus|cosmos-db|functions-host> ['<options as JSON>']
 *
 * The stack passes the options over IPC; without IPC they come from the command line.
 */
import type { startCosmosDb } from './cosmos-db/index.js';
import { createLineWriter } from './line-writer.js';
import type { startFunctionsHost } from './functions-host/index.js';
import { partNames, type PartInfos, type PartName } from './part-protocol.js';
import { runPart, type RunningPart, type StartPart } from './part-runner.js';
import type { startBroker } from './service-bus/index.js';

type Library = Omit<RunningPart, 'info'>;

// Each library is loaded only in its own process.
const starts: Readonly<Record<PartName, StartPart>> = {
  'service-bus': async (options, onStorageFailure) => {
    const library = await import('./service-bus/index.js');
    const broker = await library.startBroker({ ...(options as Parameters<typeof startBroker>[0]), onStorageFailure });
    const info: PartInfos['service-bus'] = { port: broker.port, connectionString: broker.connectionString };
    return runningPart(info, broker);
  },
  'cosmos-db': async (options, onStorageFailure) => {
    const library = await import('./cosmos-db/index.js');
    const account = await library.startCosmosDb({
      ...(options as Parameters<typeof startCosmosDb>[0]),
      onStorageFailure,
    });
    const info: PartInfos['cosmos-db'] = { port: account.port, endpoint: account.endpoint, key: account.key };
    return runningPart(info, account);
  },
  'functions-host': async (options, onStorageFailure) => {
    const library = await import('./functions-host/index.js');
    const { onlyProblems, ...own } = options as Parameters<typeof startFunctionsHost>[0] & { onlyProblems?: boolean };
    const write = (text: string): void => void process.stdout.write(text);
    const host = await library.startFunctionsHost({
      ...own,
      onStorageFailure,
      log: createLineWriter(write, onlyProblems === true),
    });
    const info: PartInfos['functions-host'] = { port: host.port, url: host.url, hostKey: host.keys.function };
    return runningPart(info, host);
  },
};

function runningPart(info: object, library: Library): RunningPart {
  return {
    info,
    counters: () => library.counters(),
    setFaults: (plan) => {
      library.setFaults(plan);
    },
    close: () => library.close(),
  };
}

function isPartName(name: string | undefined): name is PartName {
  return partNames.some((known) => known === name);
}

const [name, argument] = process.argv.slice(2);
if (isPartName(name)) {
  await runPart(starts[name], argument);
} else {
  console.error(`Usage: node dist/local/part.js <${partNames.join('|')}> ['<options as JSON>']`);
  process.exitCode = 2;
}
