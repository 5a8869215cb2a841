/** `npm run emulators:config`: writes the Service Bus emulator's file before `docker compose up` and prints the differences. */
import { readFile } from 'node:fs/promises';
import { serviceBusConfigFile, writeServiceBusConfig } from './index.js';

const topology: unknown = JSON.parse(await readFile('infra/topology.json', 'utf8'));
const differences = await writeServiceBusConfig(topology, serviceBusConfigFile);
const lines = [
  `Wrote ${serviceBusConfigFile}.`,
  ...(differences.length === 0 ? [] : ['The emulator is not Azure in these points:']),
  ...differences.map((line) => `  ${line}`),
];
process.stdout.write(`${lines.join('\n')}\n`);
