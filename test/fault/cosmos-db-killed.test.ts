/** The server dies by `kill -9` under traffic, again and again. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CosmosClient } from '@azure/cosmos';
import { createClient, database, statusOf, withDirectory, withServerIn } from '../support/cosmos-db.js';

const key = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';
const support = join(import.meta.dirname, '../support');

/** What the clients know to be stored: the last acknowledged version of each document, and which of them it surely is. */
interface Known {
  readonly version: Map<string, number>;
}

async function startChild(directory: string) {
  const child = fork(join(support, 'cosmos-db-child.ts'), [directory], {
    execArgv: ['--no-warnings', '--import', join(support, 'register-typescript.ts')],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, client: createClient({ endpoint: `http://127.0.0.1:${port}/`, key }) };
}

/** One writer: creates its documents and replaces each at once, until the server is gone. */
async function write(client: CosmosClient, name: string, known: Known, acknowledged: () => void): Promise<void> {
  const records = client.database(database).container('order-state');
  for (let number = 0; ; number += 1) {
    const id = `${name}-${number}`;
    try {
      const { etag } = await records.items.create({ id, version: 1 });
      known.version.set(id, 1);
      acknowledged();
      const accessCondition = { type: 'IfMatch', condition: etag };
      await records.item(id, id).replace({ id, version: 2 }, { accessCondition });
      known.version.set(id, 2);
      acknowledged();
    } catch {
      return;
    }
  }
}

async function runUntilKilled(directory: string, round: number, known: Known, acknowledgements: number): Promise<void> {
  const { child, client } = await startChild(directory);
  let count = 0;
  const acknowledged = (): void => {
    count += 1;
    if (count === acknowledgements) child.kill('SIGKILL');
  };
  const exited = once(child, 'exit');
  await Promise.all(['a', 'b', 'c', 'd'].map((writer) => write(client, `${round}${writer}`, known, acknowledged)));
  await exited;
  client.dispose();
}

it('loses no acknowledged write and applies none twice when it is killed under traffic', () =>
  withDirectory(async (directory) => {
    const known: Known = { version: new Map() };
    for (const [round, acknowledgements] of [3, 150, 400].entries()) {
      await runUntilKilled(directory, round, known, acknowledgements);
    }
    await withServerIn(directory, {}, async ({ container }) => {
      const records = container('order-state');
      const { resources } = await records.items.readAll<{ id: string; version: number }>().fetchAll();
      const stored = new Map(resources.map(({ id, version }) => [id, version]));
      expect(stored.size).toBe(resources.length);
      for (const [id, version] of known.version) expect(stored.get(id)).toBeGreaterThanOrEqual(version);
      // Each of the four writers of a round can have one write that was stored and not acknowledged.
      expect(stored.size - known.version.size).toBeLessThanOrEqual(12);
      for (const id of known.version.keys()) expect(await statusOf(records.items.create({ id }))).toBe(409);
    });
  }));
