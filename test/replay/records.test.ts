/**
 * Records as builds of every schema version have left them: today's build must read each and bring its order to an end
 * (C61, T41, R54). A file here is never changed; a new version is a new set of files.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readStateRecord } from '../../functions/state/read-record.js';
import { isTerminal, stateSchemaVersion } from '../../functions/state/state-record.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { createOrderWorld } from '../support/order-world.js';
import type { OrderWorld } from '../support/order-world.js';

interface Sample extends Readonly<Record<string, unknown>> {
  readonly orderId: string;
  readonly schemaVersion: number;
  readonly processState: string;
}

const folder = new URL('records/', import.meta.url);

const samples = readdirSync(folder).map((file): [string, Sample] => [
  file,
  JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Sample,
]);

/** Where today's build takes an order from there, when every agent succeeds. */
const endOf: Readonly<Record<string, string>> = {
  Pending: 'Processed',
  Processing: 'Processed',
  Processed: 'Processed',
  Compensating: 'Compensated',
  Error: 'Error',
};

/** Stands in the store as the old build wrote it, in a system whose earlier attempts are gone. */
async function worldWith(sample: Sample): Promise<OrderWorld> {
  const world = createOrderWorld(1, {});
  await world.submit(0, sample.orderId);
  world.database.put(sample as unknown as StateRecord);
  world.restart(0);
  return world;
}

async function untilOver(world: OrderWorld, orderId: string): Promise<StateRecord> {
  const present = (): StateRecord => {
    const read = readStateRecord(world.database.documents.get(orderId)?.document ?? {});
    if (read.kind !== 'record') throw new Error(read.problem);
    return read.record;
  };
  for (let round = 0; round < 60; round += 1) {
    if (isTerminal(present()) && present().outbox.length === 0) break;
    world.clock.advance(3_000);
    await world.start(0);
    for (const attempt of world.attempts) await world.turn(0, attempt, 'succeed');
    const known = world.replies.length;
    for (const request of world.requests()) await world.serve(request, 'succeed');
    for (const reply of world.replies.slice(known)) await world.deliver(0, reply);
    for (const attempt of world.attempts) await world.turn(0, attempt, 'succeed');
    await world.supervise(0);
  }
  return present();
}

describe.each(samples)('%s', (_file, sample) => {
  it('is read as a record of today (RR1)', () => {
    expect(readStateRecord(sample)).toMatchObject({ kind: 'record', record: { schemaVersion: stateSchemaVersion } });
  });

  it('comes to its end, and every status is told once', async () => {
    const world = await worldWith(sample);
    const record = await untilOver(world, sample.orderId);
    expect(record).toMatchObject({ processState: endOf[sample.processState], outbox: [] });
    const statuses = world.sender.queued('status-web-shop').map(({ messageId }) => messageId);
    expect(statuses).toEqual([...new Set(statuses)]);
  });
});

it('there is a sample of every version, and of a record that is waiting, running, being undone and over', () => {
  for (let version = 1; version <= stateSchemaVersion; version += 1) {
    const states = samples.flatMap(([, it]) => (it.schemaVersion === version ? [it.processState] : []));
    expect(new Set(states), `version ${version}`).toEqual(new Set(Object.keys(endOf)));
  }
});
