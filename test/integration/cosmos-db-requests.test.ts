import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
/** Bad and odd requests: each gets the right error, and others are unaffected. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startCosmosDb } from '../../local/cosmos-db/index.js';
import type { Fixture, RawRequest } from '../support/cosmos-db.js';
import {
  createClient,
  database,
  queryAll,
  sendRaw,
  statusOf,
  topologyOf,
  withDirectory,
  withServer,
} from '../support/cosmos-db.js';

const container = `dbs/${database}/colls/orders`;

function post(body: string | Buffer, headers: Record<string, string> = {}): RawRequest {
  return {
    method: 'POST',
    path: `/${container}/docs`,
    resourceType: 'docs',
    resourceId: container,
    headers: { 'x-ms-documentdb-partitionkey': '["A-1"]', 'content-type': 'application/json', ...headers },
    body,
  };
}

async function isWell({ container: open }: Fixture): Promise<void> {
  const id = `well-${Math.random()}`;
  expect((await open('orders').items.create({ id })).statusCode).toBe(201);
}

it('refuses a wrong key, a missing signature and a clock that is far off, and names both clocks (C79)', () =>
  withServer({}, async ({ server }) => {
    const wrong = createClient({ endpoint: server.endpoint, key: Buffer.from('another key').toString('base64') });
    expect(await statusOf(wrong.database(database).read())).toBe(401);
    expect(await sendRaw(server, { ...post('{"id":"A-1"}'), headers: { authorization: '' } })).toMatchObject({
      status: 401,
    });
    const aad = { authorization: encodeURIComponent('type=aad&ver=1.0&sig=token') };
    const answer = await sendRaw(server, { ...post('{"id":"A-1"}'), headers: aad });
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.body).toContain('use its key');
    const late = new Date(Date.now() - 60 * 60 * 1000);
    const answered = await sendRaw(server, { ...post('{"id":"A-1"}'), date: late });
    expect(answered.status).toBe(403);
    expect(answered.body).toContain(`x-ms-date is ${late.toUTCString()}, the server's clock says`);
  }));

it('accepts a key of its own', () => withServer({ key: Buffer.from('my own key').toString('base64') }, isWell));

it.each<[string, RawRequest, number]>([
  ['text that is no JSON', post('{"id":'), 400],
  ['an array', post('[]'), 400],
  ['bytes that are no UTF-8', post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), 400],
  ['no body', post(''), 400],
  ['no id', post('{}'), 400],
  ['a numeric id', post('{"id":1}'), 400],
  ['a partition key header that is no JSON', post('{"id":"A-1"}', { 'x-ms-documentdb-partitionkey': 'A-1' }), 400],
  ['an empty partition key', post('{"id":"A-1"}', { 'x-ms-documentdb-partitionkey': '[]' }), 400],
  ['several partition keys', post('{"id":"A-1"}', { 'x-ms-documentdb-partitionkey': '["A-1","b"]' }), 400],
  ['another partition key than the document', post('{"id":"A-2"}'), 400],
  ['a document nested too deeply', post(`{"id":"A-1","x":${'['.repeat(200)}${']'.repeat(200)}}`), 400],
  ['a document nested absurdly deeply', post(`{"id":"A-1","x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`), 400],
  ['a document over 2 MB', post(JSON.stringify({ id: 'A-1', x: 'x'.repeat(2_200_000) })), 413],
  ['a body over 4 MB', post('x'.repeat(5_000_000)), 413],
  ['a document over 2 MB in UTF-8 only', post(JSON.stringify({ id: 'A-1', x: '日'.repeat(800_000) })), 413],
])('answers %s with its error and stays well', (_, request, status) =>
  withServer({}, async (fixture) => {
    const answer = await sendRaw(fixture.server, request);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({
      code: expect.any(String) as string,
      message: expect.any(String) as string,
    });
    await isWell(fixture);
  }),
);

it('tells a partition key mismatch by sub-status 1001', () =>
  withServer({}, async ({ server }) => {
    expect((await sendRaw(server, post('{"id":"A-2"}'))).headers['x-ms-substatus']).toBe('1001');
  }));

it.each(['a/b', 'a\\b', 'a?b', 'a#b', 'a ', 'x'.repeat(1024)])('refuses the id %.12s (C5)', (id) =>
  withServer({}, async ({ server }) => {
    const key = { 'x-ms-documentdb-partitionkey': JSON.stringify([id]) };
    expect((await sendRaw(server, post(JSON.stringify({ id }), key))).status).toBe(400);
  }),
);

it.each(['注文 1', 'a%2Fb', 'ünïcode', "it's", 'a+b&c=d', 'x'.repeat(1023)])('stores and finds the id %.12s', (id) =>
  withServer({}, async ({ container: open }) => {
    const orders = open('orders');
    await orders.items.create({ id });
    expect((await orders.item(id, id).read()).resource).toMatchObject({ id });
    expect((await orders.item(id, id).replace({ id, n: 1 })).statusCode).toBe(200);
    expect((await orders.item(id, id).delete()).statusCode).toBe(204);
  }),
);

it.each<[string, string]>([
  ['sprocs', `/${container}/sprocs`],
  ['triggers', `/${container}/triggers`],
  ['users', `/dbs/${database}/users`],
  ['partitionkey', `/${container}/operations/partitionkeydelete`],
])('refuses %s loudly', (resourceType, path) =>
  withServer({}, async ({ server }) => {
    const resourceId = path.slice(1, path.lastIndexOf('/'));
    const answer = await sendRaw(server, { method: 'POST', path, resourceType, resourceId, body: '{}' });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('official emulator');
  }),
);

it('refuses the change feed loudly', () =>
  withServer({}, async ({ container: open }) => {
    const iterator = open('orders').items.getChangeFeedIterator({});
    await expect(iterator.readNext()).rejects.toThrow(/change feed is not supported/);
  }));

it('closes connections that send garbage and serves the others', () =>
  withServer({}, async (fixture) => {
    const socket = connect(fixture.server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.alloc(20_000, 0x16));
    socket.resume();
    await once(socket, 'close');
    await isWell(fixture);
  }));

it('says which port is taken', () =>
  withServer({}, ({ server }) =>
    withDirectory(async (directory) => {
      const second = startCosmosDb({
        dataDirectory: directory,
        fsync: 'never',
        topology: topologyOf({}),
        port: server.port,
      });
      await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE', port: server.port });
    }),
  ));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are still in use after a collection: garbage that waits for one would count otherwise. */
function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

it('keeps its memory flat over thousands of requests, good and bad', () =>
  withServer({}, async ({ server, container: open }) => {
    const orders = open('orders');
    await orders.items.create({ id: 'A-1' });
    const round = async (): Promise<void> => {
      for (let n = 0; n < 20; n += 1) {
        await Promise.all([
          orders.item('A-1', 'A-1').replace({ id: 'A-1', n, text: 'x'.repeat(1000) }),
          orders.item('A-1', 'A-1').read(),
          statusOf(orders.items.create({ id: 'A-1' })),
          queryAll(orders, `SELECT * FROM c WHERE c.n = ${Math.random()}`, { partitionKey: 'A-1' }),
          sendRaw(server, post('x'.repeat(100_000))),
        ]);
      }
    };
    for (let warmUp = 0; warmUp < 5; warmUp += 1) await round();
    const before = heapInUse();
    for (let count = 0; count < 15; count += 1) await round();
    expect(heapInUse() - before).toBeLessThan(60 * 1024 * 1024);
  }));
