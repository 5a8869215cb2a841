import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueueSettings } from '../../local/service-bus/config/queue-settings.js';
import type { Message } from '../../local/service-bus/queue/message.js';
import { settle, type Disposition } from '../../local/service-bus/queue/settle.js';
import type { Queue } from '../../local/service-bus/queue/queue.js';
import { openStore, type Store } from '../../local/service-bus/storage/store.js';
import { textProperty } from '../../local/service-bus/wire/application-properties.js';
import { readIncoming } from '../../local/service-bus/wire/incoming.js';
import { encodeText } from '../../local/service-bus/wire/values.js';
import { ModelQueue, type ModelSettings } from '../support/service-bus-model.js';

const kinds = ['complete', 'abandon', 'release', 'defer', 'deadLetter'] as const;

/** Steps name messages by a number that is taken modulo what there is, so that every step means something. */
const stepArbitrary = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      id: fc.nat(12),
      lifeMs: fc.integer({ min: 1, max: 200 }),
      delayMs: fc.oneof(fc.constant(0), fc.nat(100)),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('receive' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('settle' as const), pick: fc.nat(50), kind: fc.constantFrom(...kinds) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const), pick: fc.nat(50) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('receiveDeferred' as const), sequence: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cancel' as const), sequence: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);

type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never;

const settingsArbitrary: fc.Arbitrary<ModelSettings> = fc.record({
  lockMs: fc.integer({ min: 10, max: 100 }),
  maxDeliveryCount: fc.integer({ min: 1, max: 4 }),
  timeToLiveMs: fc.oneof(fc.constant(Infinity), fc.integer({ min: 20, max: 150 })),
  deadLetterOnExpiration: fc.boolean(),
  duplicateWindowMs: fc.oneof(fc.constant(0), fc.integer({ min: 10, max: 100 })),
});

function toQueueSettings(settings: ModelSettings): QueueSettings {
  return {
    name: 'q',
    lockDurationMs: settings.lockMs,
    maxDeliveryCount: settings.maxDeliveryCount,
    defaultTimeToLiveMs: settings.timeToLiveMs,
    deadLetterOnExpiration: settings.deadLetterOnExpiration,
    duplicateWindowMs: settings.duplicateWindowMs,
    maxSizeBytes: Infinity,
    forwardTo: undefined,
    forwardDeadLettersTo: undefined,
  };
}

function encodeMessage(id: string): Buffer {
  const properties = Buffer.concat([
    Buffer.from([0x00, 0x53, 0x73, 0xd0, 0, 0, 0, 4 + encodeText(id).length, 0, 0, 0, 1]),
    encodeText(id),
  ]);
  return Buffer.concat([properties, Buffer.from([0x00, 0x53, 0x75, 0xa0, 0])]);
}

/** The real queue with its journal, driven by the same steps as the model. */
class RealQueue {
  readonly #directory: string;
  readonly #settings: QueueSettings;
  readonly #newToken: () => string;
  #store: Store;
  now = 0;
  /** Locks handed out since the last crash, also those that have ended. */
  locks: { token: string; sequence: number }[] = [];

  private constructor(directory: string, settings: QueueSettings, store: Store, newToken: () => string) {
    this.#directory = directory;
    this.#settings = settings;
    this.#store = store;
    this.#newToken = newToken;
  }

  static async open(directory: string, settings: QueueSettings): Promise<RealQueue> {
    let tokens = 0;
    const newToken = (): string => String((tokens += 1));
    return new RealQueue(directory, settings, await openQueueStore(directory, settings, newToken, () => 0), newToken);
  }

  get queue(): Queue {
    return this.#find('q');
  }

  get deadLetters(): Queue {
    return this.#find('q/$deadletterqueue');
  }

  get namespace(): Store['namespace'] {
    return this.#store.namespace;
  }

  commit(): Promise<void> {
    return this.#store.commit();
  }

  /** Ends without a word, as a killed process would, and opens what the journal holds. */
  async crash(): Promise<void> {
    await this.#store.close();
    this.locks = [];
    this.#store = await openQueueStore(this.#directory, this.#settings, this.#newToken, () => this.now);
    for (const queue of this.namespace.queues()) queue.expireDue(this.now);
    await this.commit();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #find(name: string): Queue {
    const queue = this.namespace.find(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }
}

function openQueueStore(
  directory: string,
  settings: QueueSettings,
  newLockToken: () => string,
  now: () => number,
): Promise<Store> {
  const events = { ready: () => undefined, count: () => undefined, newLockToken };
  // So small that nearly every run goes through snapshots as well (J4).
  return openStore({ directory, fsync: 'never', queues: [settings], events, now, compactAfterBytes: 600 });
}

/** Does one step on both and compares what they answer. */
async function take(step: Step, real: RealQueue, model: ModelQueue): Promise<void> {
  switch (step.do) {
    case 'send':
      takeSend(step, real, model);
      break;
    case 'receive':
      noteLock(real, expectLike(real.queue.acquire(real.now), model.receive(real.now)));
      break;
    case 'receiveDeferred':
      takeReceiveDeferred(step.sequence, real, model);
      break;
    case 'cancel':
      takeCancel(step.sequence, real, model);
      break;
    case 'settle':
      takeSettle(step.pick, step.kind, real, model);
      break;
    case 'renew':
      takeRenew(step.pick, real, model);
      break;
    case 'wait':
      real.now += step.ms;
      real.queue.expireDue(real.now);
      model.tick(real.now);
      break;
    case 'crash':
      await real.crash();
      model.crash(real.now);
  }
  await real.commit();
}

function takeSend(step: Extract<Step, { do: 'send' }>, real: RealQueue, model: ModelQueue): void {
  const { id, lifeMs, delayMs } = step;
  const scheduledFor = delayMs === 0 ? 0 : real.now + delayMs;
  const incoming = readIncoming(encodeMessage(`id-${id}`), () => '');
  real.namespace.send(real.queue, [{ ...incoming, timeToLiveMs: lifeMs, scheduledFor }], real.now);
  model.send(`id-${id}`, lifeMs, scheduledFor, real.now);
}

function expectLike(message: Message | undefined, sequence: number | undefined): Message | undefined {
  expect(message?.sequence).toBe(sequence);
  return message;
}

function noteLock(real: RealQueue, message: Message | undefined): void {
  if (message?.lock !== undefined) real.locks.push({ token: message.lock.token, sequence: message.sequence });
}

function takeReceiveDeferred(sequence: number, real: RealQueue, model: ModelQueue): void {
  const message = real.queue.findDeferred(sequence);
  if (message !== undefined) real.queue.lockDeferred(message, real.now);
  expect(message !== undefined).toBe(model.receiveDeferred(sequence, real.now));
  noteLock(real, message);
}

function takeCancel(sequence: number, real: RealQueue, model: ModelQueue): void {
  const message = real.queue.findScheduled(sequence);
  if (message !== undefined) real.queue.remove(message);
  expect(message !== undefined).toBe(model.cancel(sequence));
}

function takeSettle(pick: number, kind: Disposition['kind'], real: RealQueue, model: ModelQueue): void {
  const lock = real.locks[pick % Math.max(real.locks.length, 1)];
  if (lock === undefined) return;
  const { namespace, queue } = real;
  const changes = kind === 'deadLetter' ? [textProperty('DeadLetterReason', 'asked')] : [];
  const error = settle({ namespace, queue, token: lock.token }, { kind, changes }, real.now);
  const isNewest = real.locks.filter(({ sequence }) => sequence === lock.sequence).at(-1) === lock;
  // An older lock of the same message is gone, whatever became of the message since.
  expect(error === undefined).toBe(isNewest && model.settle(lock.sequence, kind, real.now));
}

function takeRenew(pick: number, real: RealQueue, model: ModelQueue): void {
  const lock = real.locks[pick % Math.max(real.locks.length, 1)];
  if (lock === undefined) return;
  const message = real.queue.findLocked(lock.token, real.now);
  if (message !== undefined) real.queue.renew(message, real.now);
  const isNewest = real.locks.filter(({ sequence }) => sequence === lock.sequence).at(-1) === lock;
  expect(message !== undefined).toBe(isNewest && model.renew(lock.sequence, real.now));
}

function expectSame(real: RealQueue, model: ModelQueue): void {
  const visible = real.queue.peek(0, Infinity).map(({ sequence, messageId, state, deliveryCount, lock }) => ({
    sequence,
    messageId,
    state,
    deliveryCount,
    isLocked: lock !== undefined,
  }));
  expect(visible).toEqual(model.visible());
  expect(real.queue.size).toBe(visible.length);
  const dead = real.deadLetters.peek(0, Infinity).map(({ sequence, raw }) => {
    const reason = ['MaxDeliveryCountExceeded', 'TTLExpiredException', 'asked'].find((text) => raw.includes(text));
    return { sequence, reason };
  });
  expect(dead).toEqual([...model.deadLetters].sort((one, other) => one.sequence - other.sequence));
}

// Q1–Q5, P1
test('the queue does what the naive model does, through crashes and reopening', async () => {
  await fc.assert(
    fc.asyncProperty(
      settingsArbitrary,
      fc.array(stepArbitrary, { maxLength: 100, size: 'max' }),
      async (settings, steps) => {
        const directory = await mkdtemp(join(tmpdir(), 'service-bus-model-'));
        const real = await RealQueue.open(directory, toQueueSettings(settings));
        const model = new ModelQueue(settings);
        try {
          for (const step of steps) {
            await take(step, real, model);
            expectSame(real, model);
          }
        } finally {
          await real.close();
          await rm(directory, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: 150, seed: 20261129 },
  );
});
