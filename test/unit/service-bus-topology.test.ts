import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDuration } from '../../local/service-bus/config/duration.js';
import { readTopology } from '../../local/service-bus/config/topology.js';

const day = 86_400_000;

function topologyWith(queue: object, serviceBus: object = {}): unknown {
  return { serviceBus: { queues: [{ name: 'orders', ...queue }], ...serviceBus } };
}

test("the project's own topology is read, with its dead-letter and status queues", () => {
  const file = join(import.meta.dirname, '../../infra/topology.json');
  const queues = readTopology(JSON.parse(readFileSync(file, 'utf8')));
  const names = queues.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['orders', 'orders-dead-letter', 'status-web-shop', 'status-mobile-app']),
  );
  const orders = queues.find(({ name }) => name === 'orders');
  expect(orders).toMatchObject({ lockDurationMs: 60_000, duplicateWindowMs: 0, defaultTimeToLiveMs: 14 * day });
  expect(queues.find(({ name }) => name === 'payment-requests')).toMatchObject({ duplicateWindowMs: 600_000 });
  expect(orders?.forwardDeadLettersTo).toBe('orders-dead-letter');
});

test("the official emulator's Config.json is read", () => {
  const config = {
    UserConfig: {
      Namespaces: [
        {
          Name: 'sbemulatorns',
          Queues: [
            {
              Name: 'queue.1',
              Properties: {
                DeadLetteringOnMessageExpiration: false,
                DefaultMessageTimeToLive: 'PT1H',
                DuplicateDetectionHistoryTimeWindow: 'PT20S',
                ForwardDeadLetteredMessagesTo: '',
                ForwardTo: '',
                LockDuration: 'PT1M',
                MaxDeliveryCount: 3,
                RequiresDuplicateDetection: true,
                RequiresSession: false,
              },
            },
          ],
          Topics: [],
        },
      ],
      Logging: { Type: 'File' },
    },
  };
  expect(readTopology(config)).toEqual([
    {
      name: 'queue.1',
      lockDurationMs: 60_000,
      maxDeliveryCount: 3,
      defaultTimeToLiveMs: 3_600_000,
      deadLetterOnExpiration: false,
      duplicateWindowMs: 20_000,
      maxSizeBytes: 1024 * 1024 * 1024,
      forwardTo: undefined,
      forwardDeadLettersTo: undefined,
    },
  ]);
});

test('topics in Config.json are refused with the name of what has them', () => {
  const config = { UserConfig: { Namespaces: [{ Name: 'ns', Queues: [], Topics: [{ Name: 't' }] }] } };
  expect(() => readTopology(config)).toThrow(/Topics are not supported.*emulator or Azure/);
});

test.each([
  [{ lockDuration: 'PT4S' }, /orders: lockDuration must be an ISO 8601 duration from 5 s to 300 s/],
  [{ lockDuration: '1 minute' }, /orders: lockDuration must be/],
  [{ lockDuration: 60 }, /orders: lockDuration must be/],
  [{ maxDeliveryCount: 0 }, /orders: maxDeliveryCount must be a whole number from 1 to 2000/],
  [{ maxDeliveryCount: '10' }, /orders: maxDeliveryCount must be/],
  [{ defaultMessageTimeToLive: 'PT0S' }, /orders: defaultMessageTimeToLive must be/],
  [{ deadLetteringOnMessageExpiration: 'yes' }, /orders: deadLetteringOnMessageExpiration must be true or false/],
  [{ duplicateDetectionHistoryTimeWindow: 'P8D' }, /orders: duplicateDetectionHistoryTimeWindow must be/],
  [{ maxSizeInMegabytes: 0 }, /orders: maxSizeInMegabytes must be one of 1024, 2048, 3072, 4096, 5120/],
  [{ maxSizeInMegabytes: 1 }, /orders: maxSizeInMegabytes must be one of/],
  [{ maxSizeInMegabytes: 81_920 }, /orders: maxSizeInMegabytes must be one of/],
  [{ lockDuratoin: 'PT1M' }, /orders: lockDuratoin is not known; known are lockDuration/],
  [{ requiresSession: true }, /orders: requiresSession is not supported \(sessions\).*emulator or Azure/],
  [{ enablePartitioning: true }, /orders: enablePartitioning is not supported/],
  [{ forwardTo: 'nowhere' }, /orders: forwardTo leads to 'nowhere', which is not declared/],
  [{ forwardTo: 'orders' }, /orders: forwardTo leads round in a circle/],
  [{ forwardDeadLetteredMessagesTo: 'nowhere' }, /orders: forwardDeadLetteredMessagesTo leads to 'nowhere'/],
  [{ name: '/orders' }, /name must be 1 to 260/],
  [{ name: 5 }, /queue 5: name must be/],
  [{ deadLetterQueue: 'yes' }, /orders: deadLetterQueue must be true or false/],
])('what Azure would refuse is refused with queue and property: %o', (queue, message) => {
  expect(() => readTopology(topologyWith(queue))).toThrow(message);
});

test('all problems are reported together', () => {
  const topology = topologyWith({ maxDeliveryCount: 0, lockDuration: 'x' }, { queue: [] });
  expect(() => readTopology(topology)).toThrow(
    /serviceBus\.queue is not known.*lockDuration.*maxDeliveryCount|queue is not known/,
  );
  expect(() => readTopology(topology)).toThrow(/maxDeliveryCount/);
});

test('names that differ only in case are one queue, declared twice', () => {
  const topology = { serviceBus: { queues: [{ name: 'orders' }, { name: 'Orders' }] } };
  expect(() => readTopology(topology)).toThrow(/queue Orders: is declared twice/);
});

test('a chain of more than four queues is refused, as Azure stops forwarding there', () => {
  const queues = Array.from({ length: 7 }, (_, index) => ({
    name: `q${index}`,
    ...(index < 6 ? { forwardTo: `q${index + 1}` } : {}),
  }));
  expect(() => readTopology({ serviceBus: { queues } })).toThrow(/q0: forwardTo leads .* more than 4 queues/);
});

test.each([
  ['PT5S', 5000],
  ['PT1M30S', 90_000],
  ['P1DT2H', day + 7_200_000],
  ['PT0.5S', 500],
  ['P10675199DT2H48M5.4775807S', Infinity],
  ['P', undefined],
  ['PT', undefined],
  ['5 minutes', undefined],
])('the duration %s is read', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});
