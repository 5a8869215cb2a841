/** What clients for other languages send, and the JavaScript client does not. */
import { expect, it } from 'vitest';
import type { CosmosDb } from '../../local/cosmos-db/index.js';
import type { RawAnswer, RawRequest } from '../support/cosmos-db.js';
import { database, sendRaw, withServer } from '../support/cosmos-db.js';

const container = `dbs/${database}/colls/orders`;

function post(body: string | Buffer, headers: Record<string, string>): RawRequest {
  return {
    method: 'POST',
    path: `/${container}/docs`,
    resourceType: 'docs',
    resourceId: container,
    headers: { 'x-ms-documentdb-partitionkey': '["A-1"]', ...headers },
    body,
  };
}

/** A signed request whose authorization is written in another way. */
function signedAs(server: CosmosDb, encode: (token: string) => string): Promise<RawAnswer> {
  const path = `dbs/${database}`;
  return sendRaw(server, { method: 'GET', path: `/${path}`, resourceType: 'dbs', resourceId: path, encode });
}

it.each<[string, (token: string) => string]>([
  [
    'with escapes in lower case',
    (token) => encodeURIComponent(token).replace(/%../g, (escape) => escape.toLowerCase()),
  ],
  ['without escapes', (token) => token],
])('accepts a signature %s', (_, encode) =>
  withServer({}, async ({ server }) => {
    expect((await signedAs(server, encode)).status).toBe(200);
    expect((await signedAs(server, (token) => encode(token.replace('sig=', 'sig=x')))).status).toBe(401);
  }),
);

it('finds a container by resource ids, signed with its own one in lower case', () =>
  withServer({}, async ({ client, server }) => {
    const { resource } = await client.database(database).container('orders').read();
    const { resource: parent } = await client.database(database).read();
    const [db, rid] = [String(parent?._rid), String(resource?._rid)];
    const ask = (resourceId: string) =>
      sendRaw(server, {
        method: 'GET',
        path: `/dbs/${db}/colls/${rid}/pkranges`,
        resourceType: 'pkranges',
        resourceId,
      });
    const answer = await ask(rid.toLowerCase());
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ _rid: rid, _count: 2 });
    expect((await ask('other')).status).toBe(401);
    expect(server.counters()).toMatchObject({ 'orders/partitionRanges': 1 });
  }));

it('says not modified when the physical partitions are asked for again', () =>
  withServer({}, async ({ server }) => {
    const ask = (headers: Record<string, string>) =>
      sendRaw(server, {
        method: 'GET',
        path: `/${container}/pkranges`,
        resourceType: 'pkranges',
        resourceId: container,
        headers,
      });
    const first = await ask({});
    const again = await ask({ 'if-none-match': String(first.headers['etag']) });
    expect(again).toMatchObject({ status: 304, body: '' });
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200);
  }));

it('describes its query engine to clients that plan queries themselves', () =>
  withServer({}, async ({ server }) => {
    const answer = await sendRaw(server, { method: 'GET', path: '/', resourceType: '', resourceId: '' });
    const account = JSON.parse(answer.body) as { queryEngineConfiguration: string };
    expect(JSON.parse(account.queryEngineConfiguration)).toMatchObject({ sqlAllowSubQuery: false });
  }));

it('leaves the document out of the answer to a write when asked to', () =>
  withServer({}, async ({ server }) => {
    const answer = await sendRaw(server, post('{"id":"A-1"}', { prefer: 'return=minimal' }));
    expect(answer).toMatchObject({ status: 201, body: '' });
    expect(answer.headers['etag']).toMatch(/^".+"$/);
    const item = { path: `/${container}/docs/A-1`, resourceType: 'docs', resourceId: `${container}/docs/A-1` };
    const headers = { 'x-ms-documentdb-partitionkey': '["A-1"]', prefer: 'return=minimal' };
    const read = await sendRaw(server, { method: 'GET', ...item, headers });
    expect(JSON.parse(read.body)).toMatchObject({ id: 'A-1' });
  }));

it('goes on where a resume filter says, with or behind the document that it names', () =>
  withServer({ physicalPartitions: 1 }, async ({ client, server }) => {
    const { container: things } = await client
      .database(database)
      .containers.create({ id: 'things', partitionKey: '/id' });
    const rids = new Map<string, string>();
    for (const [id, n] of [
      ['a', 1],
      ['b', 2],
      ['c', 2],
      ['d', 2],
      ['e', 3],
    ] as const) {
      rids.set(id, String((await things.items.create({ id, n })).resource?._rid));
    }
    const ask = async (order: string, resumeFilter: object) => {
      const resourceId = `dbs/${database}/colls/things`;
      const headers = {
        'content-type': 'application/query+json',
        'x-ms-documentdb-isquery': 'true',
        'x-ms-documentdb-partitionkeyrangeid': '0',
        'x-ms-max-item-count': '100',
      };
      const body = JSON.stringify({ query: `SELECT VALUE c.id FROM c ORDER BY c.n ${order}`, resumeFilter });
      const answer = await sendRaw(server, {
        method: 'POST',
        path: `/${resourceId}/docs`,
        resourceType: 'docs',
        resourceId,
        headers,
        body,
      });
      return answer.status === 200
        ? (JSON.parse(answer.body) as { Documents: string[] }).Documents.join('')
        : answer.body;
    };
    expect(await ask('', { value: [2], rid: rids.get('c'), exclude: false })).toBe('cde');
    expect(await ask('', { value: [2], rid: rids.get('c'), exclude: true })).toBe('de');
    expect(await ask('', { value: [2], exclude: false })).toBe('bcde');
    expect(await ask('', { value: [2], exclude: true })).toBe('e');
    expect(await ask('DESC', { value: [2], rid: rids.get('c'), exclude: false })).toBe('cba');
    expect(await ask('DESC', { value: [2], exclude: true })).toBe('a');
    expect(await ask('', { value: [[]] })).toBe('abcde');
    expect(await ask('', { value: [2, 3] })).toContain('another number of values');
    expect(await ask('', { value: [{ type: 'array' }] })).toContain('is not supported');
    expect(await ask('', { value: [2], rid: 'x' })).toContain('not the _rid of a document');
  }));

it('refuses a batch in HybridRow in words', () =>
  withServer({}, async ({ server }) => {
    const headers = { 'x-ms-cosmos-is-batch-request': 'True', 'x-ms-cosmos-batch-atomic': 'True' };
    const answer = await sendRaw(server, post(Buffer.from([0x81, 0xff, 0x00, 0x12]), headers));
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('A transactional batch in HybridRow');
  }));
