/** The command line of `npm run local`. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseFaultPlan, type FaultPlan } from './faults/index.js';
import { partNames, type PartName } from './part-protocol.js';
import { readJsonFile } from './project.js';
import type { Settings } from './stack-settings.js';

export const usage = `Usage: npm run local -- [options]

  --no-host                     leave the Functions host out and start Azurite instead, for \`func start\`
  --emulators                   run the app on Microsoft's emulators (compose.yaml) instead of the embedded parts
  --data <directory>            where the data is kept (default .local/data)
  --reset                       remove the data there first, if this stack made it and no other one uses it
  --setting <name>=<value>      a setting of the app instead of the sample's, for example
                                AzureWebJobs.payment-agent.Disabled=true; may be repeated
  --faults <file>               start with faults: {"service-bus": {"seed": 1, "rules": [...]}, "cosmos-db": ...}
  --fsync                       survive a power loss, not only the death of a process
  --port-service-bus <port>     fix a port; otherwise the usual one, or a free one when that is taken
  --port-cosmos-db <port>
  --port-functions-host <port>
  --watch                       start the Functions host again after each build of the app (npm run dev)
  --verbose                     show every execution of a function, not only what goes wrong or is logged
  --help`;

/** What `npm run local` was asked for. */
export interface MainOptions {
  readonly withHost: boolean;
  /** Microsoft's emulators instead of the embedded broker and Cosmos DB. */
  readonly emulators: boolean;
  readonly dataDirectory: string;
  readonly reset: boolean;
  /** Restart the host after each build of the app. */
  readonly watch: boolean;
  readonly verbose: boolean;
  readonly fsync: 'never' | 'always';
  /** Settings of the app that win over those of the sample. */
  readonly settings: Settings;
  readonly faults: Readonly<Partial<Record<PartName, FaultPlan>>>;
  readonly ports: Readonly<Partial<Record<PartName, number>>>;
}

/** The command line is wrong; the message says what and is followed by the usage. */
export class UsageError extends Error {}

/** Parses the arguments, or returns 'help'. */
export function parseMainOptions(args: readonly string[], root: string): MainOptions | 'help' {
  const values = parseValues(args);
  if (values.help === true) return 'help';
  return {
    withHost: values['no-host'] !== true,
    emulators: values.emulators === true,
    dataDirectory: values.data === undefined ? resolve(root, '.local', 'data') : resolve(values.data),
    reset: values.reset === true,
    watch: values.watch === true,
    verbose: values.verbose === true,
    fsync: values.fsync === true ? 'always' : 'never',
    settings: Object.fromEntries((values.setting ?? []).map(parseSetting)),
    faults: values.faults === undefined ? {} : readFaults(values.faults),
    ports: {
      ...parsePort('service-bus', values['port-service-bus']),
      ...parsePort('cosmos-db', values['port-cosmos-db']),
      ...parsePort('functions-host', values['port-functions-host']),
    },
  };
}

/** Reads a faults file: a fault plan by name of part. */
function readFaults(path: string): MainOptions['faults'] {
  const json = readJsonFile(resolve(path), 'the fault plans');
  if (typeof json !== 'object' || json === null)
    throw new UsageError(`${path} must hold a fault plan by name of part.`);
  return Object.fromEntries(
    Object.entries(json).map(([name, plan]) => {
      if (!partNames.some((known) => known === name)) {
        throw new UsageError(`${path} names a part "${name}"; parts are ${partNames.join(', ')}.`);
      }
      return [name, planOf(`${path}, ${name}`, plan)];
    }),
  );
}

function planOf(place: string, json: unknown): FaultPlan {
  try {
    return parseFaultPlan(json);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function parseSetting(text: string): [name: string, value: string] {
  const end = text.indexOf('=');
  if (end < 1) throw new UsageError(`--setting is "${text}" and must be <name>=<value>.`);
  return [text.slice(0, end), text.slice(end + 1)];
}

function parsePort(part: PartName, text: string | undefined): Partial<Record<PartName, number>> {
  if (text === undefined) return {};
  const port = Number(text);
  const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (!isPort) throw new UsageError(`--port-${part} is "${text}" and must be a number from 1 to 65535.`);
  return { [part]: port };
}

function parseValues(args: readonly string[]) {
  const values = parseStrictly(args);
  const empty = Object.entries(values).find(([, value]) => value === '');
  if (empty !== undefined) throw new UsageError(`--${empty[0]} is empty.`);
  return values;
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        'no-host': { type: 'boolean' },
        emulators: { type: 'boolean' },
        data: { type: 'string' },
        reset: { type: 'boolean' },
        setting: { type: 'string', multiple: true },
        faults: { type: 'string' },
        fsync: { type: 'boolean' },
        watch: { type: 'boolean' },
        verbose: { type: 'boolean' },
        'port-service-bus': { type: 'string' },
        'port-cosmos-db': { type: 'string' },
        'port-functions-host': { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
