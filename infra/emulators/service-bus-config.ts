/**
 * The configuration file of the official Service Bus emulator, made from the topology.
 *
 * Invariants
 * E1 Every queue of the topology is there, targets of forwarding before their sources.
 * E2 A value outside the emulator's limits becomes the nearest allowed one, and the difference is reported.
 */
import { clampDuration } from './duration.js';
import { withDefaults } from './topology.js';
import type { BrokerProperties, Topology } from './topology.js';

/** Fixed by the emulator. */
const namespaceName = 'sbemulatorns';
const limits = {
  entities: 50,
  deliveries: 10,
  lockDuration: ['PT5S', 'PT5M'],
  timeToLive: ['PT5M', 'PT1H'],
  duplicateDetection: ['PT5S', 'PT5M'],
} as const;

/** A queue as the emulator's file describes it. */
export interface EmulatorQueue {
  readonly Name: string;
  readonly Properties: Readonly<Record<string, string | number | boolean>>;
}

/** The emulator's Config.json. */
export interface EmulatorConfig {
  readonly UserConfig: {
    readonly Namespaces: readonly [
      { readonly Name: string; readonly Queues: readonly EmulatorQueue[]; readonly Topics: readonly never[] },
    ];
    readonly Logging: { readonly Type: string };
  };
}

interface NamedQueue {
  readonly name: string;
  readonly properties: BrokerProperties;
  readonly forwardDeadLettersTo?: string;
}

/** The file, and how it differs from what Azure gets: one line each. */
export function serviceBusEmulatorConfig(topology: Topology): { config: EmulatorConfig; differences: string[] } {
  const queues = allQueues(topology);
  if (queues.length > limits.entities) {
    throw new Error(
      `The Service Bus emulator holds ${limits.entities} queues and the topology has ${queues.length}: remove applications or queues.`,
    );
  }
  const converted = queues.map(toEmulatorQueue);
  const config: EmulatorConfig = {
    UserConfig: {
      Namespaces: [{ Name: namespaceName, Queues: converted, Topics: [] }],
      Logging: { Type: 'Console' },
    },
  };
  return { config, differences: queues.flatMap((queue, index) => differencesOf(queue, converted[index])) };
}

function allQueues({ applications, serviceBus }: Topology): readonly NamedQueue[] {
  const { queueDefaults, queues, deadLetterQueue, statusQueue } = serviceBus;
  const withDeadLetters = queues.filter((queue) => queue.deadLetterQueue === true);
  const deadLettersOf = (name: string): string => `${name}${deadLetterQueue.nameSuffix}`;
  return [
    // E1
    ...withDeadLetters.map(({ name }) => ({
      name: deadLettersOf(name),
      properties: withDefaults(queueDefaults, deadLetterQueue),
    })),
    ...queues.map((queue) => ({
      name: queue.name,
      properties: withDefaults(queueDefaults, queue),
      ...(queue.deadLetterQueue === true ? { forwardDeadLettersTo: deadLettersOf(queue.name) } : {}),
    })),
    ...applications.map(({ name }) => ({
      name: `${statusQueue.namePrefix}${name}`,
      properties: withDefaults(queueDefaults, statusQueue),
    })),
  ];
}

// E2
function toEmulatorQueue({ name, properties, forwardDeadLettersTo }: NamedQueue): EmulatorQueue {
  return {
    Name: name,
    Properties: {
      DeadLetteringOnMessageExpiration: properties.deadLetteringOnMessageExpiration,
      DefaultMessageTimeToLive: clampDuration(properties.defaultMessageTimeToLive, ...limits.timeToLive),
      DuplicateDetectionHistoryTimeWindow: clampDuration(
        properties.duplicateDetectionHistoryTimeWindow,
        ...limits.duplicateDetection,
      ),
      ...(forwardDeadLettersTo === undefined ? {} : { ForwardDeadLetteredMessagesTo: forwardDeadLettersTo }),
      LockDuration: clampDuration(properties.lockDuration, ...limits.lockDuration),
      MaxDeliveryCount: Math.min(properties.maxDeliveryCount, limits.deliveries),
      RequiresDuplicateDetection: properties.requiresDuplicateDetection,
      RequiresSession: false,
    },
  };
}

function differencesOf({ name, properties }: NamedQueue, converted: EmulatorQueue | undefined): readonly string[] {
  const wanted: Readonly<Record<string, string | number>> = {
    DefaultMessageTimeToLive: properties.defaultMessageTimeToLive,
    DuplicateDetectionHistoryTimeWindow: properties.duplicateDetectionHistoryTimeWindow,
    LockDuration: properties.lockDuration,
    MaxDeliveryCount: properties.maxDeliveryCount,
  };
  return Object.entries(wanted)
    .map(([property, value]) => ({ property, value, given: converted?.Properties[property] }))
    .filter(({ value, given }) => value !== given)
    .map(({ property, value, given }) => `${name}: ${property} ${value} becomes ${String(given)}`);
}
