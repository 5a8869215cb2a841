/** A process that serves Cosmos DB until it is killed: `cosmos-db-child.ts <directory> <port>`. */
import { startCosmosDb } from '../../local/cosmos-db/index.js';
import { projectTopology } from './cosmos-db.js';

const [directory, port] = process.argv.slice(2);
if (directory === undefined) throw new Error('Pass the directory of the data.');

const server = await startCosmosDb({
  dataDirectory: directory,
  port: Number(port ?? 0),
  fsync: 'never',
  topology: projectTopology,
});
process.send?.({ port: server.port });
