import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eventTypes } from '../../local/functions-host/durable/history.js';
import type { Instance, InstanceState } from '../../local/functions-host/durable/instance.js';
import { eventNow, newInstance } from '../../local/functions-host/durable/messages.js';
import { openStore, type InstanceStore } from '../../local/functions-host/durable/store.js';

type Operation = (store: InstanceStore, id: string) => Promise<void> | undefined;

const at = '2026-01-01T00:00:00.000Z';
const turnOf = (instance: Instance, status: 'Running' | 'Completed'): Parameters<InstanceStore['turn']>[1] => ({
  at,
  taken: instance.inbox.length,
  scheduled:
    status === 'Completed'
      ? []
      : [
          {
            EventType: eventTypes.taskScheduled,
            EventId: instance.history.length,
            Timestamp: at,
            Name: 'a',
            Input: 'null',
          },
        ],
  cancelled: [],
  status,
  customStatus: null,
  output: status === 'Completed' ? '"done"' : null,
});

/** Runs the operation on an unfinished instance, if there is one of that id. */
const onRunning =
  (operation: (store: InstanceStore, instance: Instance) => Promise<void>): Operation =>
  (store, id) => {
    const instance = store.get(id);
    return instance === undefined ? undefined : operation(store, instance);
  };

const operations: readonly Operation[] = [
  (store, id) => store.create(newInstance(id, { name: 'o', input: '{}' }, null)).saved,
  onRunning((store, instance) =>
    store.receive(instance, { ...eventNow(eventTypes.eventRaised), Name: 'e', Input: '1' }),
  ),
  onRunning((store, instance) => store.turn(instance, turnOf(instance, 'Running'))),
  onRunning((store, instance) => store.turn(instance, turnOf(instance, 'Running'))),
  onRunning((store, instance) => store.turn(instance, turnOf(instance, 'Completed'))),
  onRunning((store, instance) => store.control(instance, eventNow(eventTypes.executionSuspended), 'Suspended')),
  onRunning((store, instance) => store.control(instance, eventNow(eventTypes.executionTerminated), 'Terminated')),
  onRunning((store, instance) =>
    store.continueAsNew(instance, {
      executionId: `${instance.executionId}+`,
      input: '2',
      customStatus: null,
      at,
      taken: 0,
    }),
  ),
  (store, id) => (store.isFinished(id) ? store.purge(id) : undefined),
];

const steps = fc.array(
  fc.record({ operation: fc.nat(operations.length - 1), id: fc.constantFrom('a', 'b', 'c', 'd'), waits: fc.boolean() }),
  { minLength: 20, maxLength: 120 },
);

function states(store: InstanceStore): Map<string, InstanceState | undefined> {
  return new Map([...store.ids()].sort().map((id) => [id, store.state(id)]));
}

it('a store that is opened again holds what it held, whatever happened and whenever it was compacted', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const directory = await mkdtemp(join(tmpdir(), 'functions-host-store-'));
      const options = { directory, fsync: 'never' as const, compactAfterBytes: 3000 };
      const store = await openStore(options);
      for (const { operation, id, waits } of given) {
        const saved = operations[operation]?.(store, id);
        if (waits) await saved;
      }
      const held = structuredClone(states(store));
      await store.close();
      const again = await openStore(options);
      expect(states(again)).toEqual(held);
      await again.close();
      await rm(directory, { recursive: true });
    }),
    { seed: 4711, numRuns: 60 },
  );
});
