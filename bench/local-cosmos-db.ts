/**
 * The embedded Cosmos DB beside its floor, a bare Node HTTP server, in the same run; and the supervisor's query over many
 * documents. Server and client are two processes, as in use.
 *
 *   node dist/bench/local-cosmos-db.js [documents …]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createHmac, createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CosmosClient } from '@azure/cosmos';
import { startCosmosDb } from '../local/cosmos-db/index.js';
import { printFigures, type CosmosDbFigures, type QueryFigures } from './local-cosmos-db-figures.js';

export interface CosmosDbBenchOptions {
  /** Requests of each kind. */
  readonly requests: number;
  readonly inFlight: number;
  /** Numbers of documents for the query. */
  readonly documents: readonly number[];
  readonly fsync: 'never' | 'always';
}

const database = 'order-processing';
const container = 'order-state';
const collection = `dbs/${database}/colls/${container}`;
const key = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';
const secret = createSecretKey(Buffer.from(key, 'base64'));
const agent = new Agent({ keepAlive: true });
const measuredPages = 200;
const startOfTime = Date.UTC(2026, 0, 1);

/** Runs the whole bench. */
export async function benchCosmosDb(options: CosmosDbBenchOptions): Promise<CosmosDbFigures> {
  const bare = await withServer('bare', options, (server) => measureRequests(server, options));
  const cosmosDb = await withServer('cosmosDb', options, (server) => measureRequests(server, options));
  const queries: QueryFigures[] = [];
  for (const documents of options.documents) queries.push(await measureQuery(documents, options));
  return { bare, cosmosDb, queries };
}

interface Server {
  readonly port: number;
  readonly process: ChildProcess;
}

type Role = 'bare' | 'cosmosDb';

async function startServer(role: Role, directory: string, { fsync }: CosmosDbBenchOptions): Promise<Server> {
  const child = fork(fileURLToPath(import.meta.url), [role, directory, fsync]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { port, process: child };
}

async function stopServer({ process: child }: Server): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function withServer<T>(
  role: Role,
  options: CosmosDbBenchOptions,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-cosmos-db-'));
  const server = await startServer(role, directory, options);
  try {
    return await use(server);
  } finally {
    await stopServer(server);
    await rm(directory, { recursive: true, force: true });
  }
}

interface Usage {
  readonly cpuMs: number;
  readonly memoryMiB: number;
}

async function usageOf(server: Server): Promise<Usage> {
  server.process.send('usage');
  const [usage] = (await once(server.process, 'message')) as [Usage];
  return usage;
}

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly resourceId: string;
  readonly id: string;
  readonly ifMatch?: string;
  readonly body?: string;
}

/** A signed request; resolves with the etag of the answer. */
function send(server: Server, exchange: Exchange): Promise<string> {
  const date = new Date().toUTCString();
  const text = `${exchange.method.toLowerCase()}\ndocs\n${exchange.resourceId}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', secret).update(text).digest('base64');
  const headers = {
    authorization: encodeURIComponent(`type=master&ver=1.0&sig=${signature}`),
    'x-ms-date': date,
    'x-ms-documentdb-partitionkey': JSON.stringify([exchange.id]),
    'content-type': 'application/json',
    ...(exchange.ifMatch === undefined ? {} : { 'if-match': exchange.ifMatch }),
    ...(exchange.body === undefined ? {} : { 'content-length': Buffer.byteLength(exchange.body) }),
  };
  return new Promise((resolve, reject) => {
    const { method, path } = exchange;
    const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve(String(answer.headers.etag));
        else reject(new Error(`${method} ${path} was answered ${answer.statusCode ?? 0}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(exchange.body);
  });
}

function recordOf(index: number, due: boolean): string {
  const time = (offsetMs: number): string => new Date(startOfTime + offsetMs).toISOString();
  return JSON.stringify({
    id: `A-${index}`,
    orderId: `A-${index}`,
    processState: 'Processing',
    lockedBy: `A-${index}.1`,
    completeBy: time(due ? -1 - index : 1 + index),
    notBefore: time(index),
    createdAt: time(index),
    updatedAt: time(index),
    filler: 'x'.repeat(600),
  });
}

function create(server: Server, index: number, due: boolean): Promise<string> {
  const body = recordOf(index, due);
  return send(server, { method: 'POST', path: `/${collection}/docs`, resourceId: collection, id: `A-${index}`, body });
}

function onItem(
  server: Server,
  index: number,
  exchange: Pick<Exchange, 'method' | 'body' | 'ifMatch'>,
): Promise<string> {
  const resourceId = `${collection}/docs/A-${index}`;
  return send(server, { ...exchange, path: `/${resourceId}`, resourceId, id: `A-${index}` });
}

/** Runs something so many times, some at once. */
async function repeat(count: number, inFlight: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await run(index);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function measure(server: Server, options: CosmosDbBenchOptions, run: (index: number) => Promise<unknown>) {
  const { requests, inFlight } = options;
  const before = await usageOf(server);
  const start = performance.now();
  await repeat(requests, inFlight, run);
  const seconds = (performance.now() - start) / 1000;
  const after = await usageOf(server);
  return { perSecond: requests / seconds, serverCpuMs: (after.cpuMs - before.cpuMs) / requests };
}

async function measureRequests(server: Server, options: CosmosDbBenchOptions) {
  const etags: string[] = [];
  await repeat(options.requests, options.inFlight, async (index) => {
    etags[index] = await create(server, index, false);
  });
  const read = await measure(server, options, (index) => onItem(server, index, { method: 'GET' }));
  const replace = await measure(server, options, (index) => {
    const ifMatch = etags[index] ?? '';
    return onItem(server, index, { method: 'PUT', body: recordOf(index, true), ifMatch });
  });
  return { read, replace };
}

const supervisorQuery = {
  query:
    'SELECT * FROM c WHERE c.processState = @state AND c.completeBy < @before ORDER BY c.processState, c.completeBy',
  parameters: [
    { name: '@state', value: 'Processing' },
    { name: '@before', value: new Date(startOfTime).toISOString() },
  ],
};

async function measureQuery(documents: number, options: CosmosDbBenchOptions): Promise<QueryFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-cosmos-db-'));
  try {
    const filled = await startServer('cosmosDb', directory, options);
    await repeat(documents, options.inFlight, (index) => create(filled, index, index % 100 === 0));
    await stopServer(filled);
    const start = performance.now();
    const server = await startServer('cosmosDb', directory, options);
    const startMs = performance.now() - start;
    const { cpuMs: startCpuMs } = await usageOf(server);
    const figures = await queryRepeatedly(server);
    const { memoryMiB } = await usageOf(server);
    await stopServer(server);
    return { documents, ...figures, startMs, startCpuMs, memoryMiB };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function queryRepeatedly(server: Server) {
  const client = new CosmosClient({ endpoint: `http://127.0.0.1:${server.port}/`, key });
  const { items } = client.database(database).container(container);
  const firstPage = () => items.query(supervisorQuery, { maxItemCount: 100 }).fetchNext();
  for (let warmUp = 0; warmUp < 50; warmUp += 1) await firstPage();
  const times: number[] = [];
  let modelledCharge = 0;
  const before = await usageOf(server);
  for (let count = 0; count < measuredPages; count += 1) {
    const start = performance.now();
    modelledCharge = (await firstPage()).requestCharge;
    times.push(performance.now() - start);
  }
  const after = await usageOf(server);
  client.dispose();
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(share * times.length)] ?? NaN;
  const serverCpuMs = (after.cpuMs - before.cpuMs) / measuredPages;
  return { firstPageP50Ms: at(0.5), firstPageP99Ms: at(0.99), serverCpuMs, modelledCharge };
}

async function serve(role: Role, directory: string, fsync: 'never' | 'always'): Promise<void> {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000, memoryMiB: process.memoryUsage().rss / 2 ** 20 } satisfies Usage);
  });
  process.send?.({ port: role === 'bare' ? await serveBare() : await serveCosmosDb(directory, fsync) });
}

async function serveCosmosDb(dataDirectory: string, fsync: 'never' | 'always'): Promise<number> {
  const topology: unknown = JSON.parse(await readFile(join(process.cwd(), 'infra/topology.json'), 'utf8'));
  const server = await startCosmosDb({ dataDirectory, fsync, topology });
  return server.port;
}

/** The floor: takes the request in, answers a document of the same size. */
async function serveBare(): Promise<number> {
  const body = recordOf(1, false);
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, etag: '"1"' });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const [, script, ...values] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const [role, directory = '', fsync] = values;
  if (role === 'bare' || role === 'cosmosDb') await serve(role, directory, fsync === 'always' ? 'always' : 'never');
  else {
    const documents = values.length === 0 ? [1_000, 100_000, 1_000_000] : values.map(Number);
    printFigures(await benchCosmosDb({ requests: 20_000, inFlight: 16, documents, fsync: 'never' }));
    process.exit(0);
  }
}
