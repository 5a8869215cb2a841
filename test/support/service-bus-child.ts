/** Child process of the tests that kill a broker: serves the queues of a topology until it is killed. */
import { writeSync } from 'node:fs';
import { startBroker } from '../../local/service-bus/index.js';

const [, , dataDirectory, topology, fsync] = process.argv;
if (dataDirectory === undefined || topology === undefined) throw new Error('Pass a data directory and a topology.');

const broker = await startBroker({
  dataDirectory,
  fsync: fsync === 'always' ? 'always' : 'never',
  topology: JSON.parse(topology) as unknown,
});
writeSync(1, `${broker.connectionString}\n`);
