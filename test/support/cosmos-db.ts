/** The embedded Cosmos DB with the real client, for tests. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container, FeedOptions, FeedResponse, SqlQuerySpec } from '@azure/cosmos';
import { CosmosClient } from '@azure/cosmos';
import type { CosmosDb, CosmosDbOptions } from '../../local/cosmos-db/index.js';
import { startCosmosDb } from '../../local/cosmos-db/index.js';

export const database = 'order-processing';

/** The project's own topology. */
export const projectTopology: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../infra/topology.json'), 'utf8'),
);

/** A topology of containers, each by its name. */
export function topologyOf(containers: Readonly<Record<string, object>>): unknown {
  const list = Object.entries(containers).map(([name, rest]) => ({ name, partitionKey: '/id', ...rest }));
  return { cosmosDb: { database, containers: list } };
}

/** The project's topology on an account with another consistency. */
export function topologyWithConsistency(consistency: string): unknown {
  const { cosmosDb, ...others } = projectTopology as { cosmosDb: object };
  return { ...others, cosmosDb: { ...cosmosDb, consistency } };
}

/** A running server with a client. */
export interface Fixture {
  readonly server: CosmosDb;
  readonly client: CosmosClient;
  readonly directory: string;
  readonly container: (name: string) => Container;
}

export function createClient(server: Pick<CosmosDb, 'endpoint' | 'key'>): CosmosClient {
  return new CosmosClient({
    endpoint: server.endpoint,
    key: server.key,
    connectionPolicy: {
      enablePartitionLevelFailover: false,
      enableBackgroundEndpointRefreshing: false,
      retryOptions: { maxRetryAttemptCount: 0, fixedRetryIntervalInMilliseconds: 0, maxWaitTimeInSeconds: 0 },
    },
  });
}

/** Starts a server in a directory, lets `use` work with it, and closes it. */
export async function withServerIn<Result>(
  directory: string,
  options: Partial<CosmosDbOptions>,
  use: (fixture: Fixture) => Promise<Result>,
): Promise<Result> {
  const server = await startCosmosDb({
    dataDirectory: directory,
    fsync: 'never',
    topology: projectTopology,
    ...options,
  });
  const client = createClient(server);
  try {
    return await use({ server, client, directory, container: (name) => client.database(database).container(name) });
  } finally {
    client.dispose();
    await server.close();
  }
}

/** Runs `use` with a directory of its own, and removes that. */
export async function withDirectory<Result>(use: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'cosmos-db-'));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A server in a directory of its own. */
export function withServer<Result>(
  options: Partial<CosmosDbOptions>,
  use: (fixture: Fixture) => Promise<Result>,
): Promise<Result> {
  return withDirectory((directory) => withServerIn(directory, options, use));
}

/** What a query gave, page by page. */
export interface QueryResult<Item> {
  readonly items: Item[];
  readonly pages: number;
  readonly charge: number;
}

/** Runs a query to its end with one iterator. */
export async function queryAll<Item>(
  container: Container,
  query: string | SqlQuerySpec,
  options: FeedOptions = {},
  afterPage: (page: FeedResponse<Item>) => Promise<void> = () => Promise.resolve(),
): Promise<QueryResult<Item>> {
  const iterator = container.items.query<Item>(query, options);
  const items: Item[] = [];
  let pages = 0;
  let charge = 0;
  while (iterator.hasMoreResults()) {
    const page = await iterator.fetchNext();
    // The client types resources as present, and leaves them out on an empty last page.
    items.push(...((page.resources as Item[] | undefined) ?? []));
    pages += 1;
    charge += page.requestCharge;
    await afterPage(page);
  }
  return { items, pages, charge };
}

/** The HTTP status an operation of the client fails with; undefined when it succeeds. */
export async function statusOf(operation: Promise<unknown>): Promise<unknown> {
  try {
    await operation;
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

/** A request as the client signs it, with any change one likes. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly date?: Date;
  /** How the authorization is written; absent: as the JavaScript client does. */
  readonly encode?: (token: string) => string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Sends a signed request without the client. */
export function sendRaw(server: Pick<CosmosDb, 'port' | 'key'>, raw: RawRequest): Promise<RawAnswer> {
  const date = (raw.date ?? new Date()).toUTCString();
  const text = `${raw.method.toLowerCase()}\n${raw.resourceType}\n${raw.resourceId}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', Buffer.from(server.key, 'base64')).update(text).digest('base64');
  const headers = {
    authorization: (raw.encode ?? encodeURIComponent)(`type=master&ver=1.0&sig=${signature}`),
    'x-ms-date': date,
    'x-ms-version': '2020-07-15',
    ...raw.headers,
  };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, method: raw.method, path: raw.path, headers, agent: false };
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(raw.body);
  });
}
