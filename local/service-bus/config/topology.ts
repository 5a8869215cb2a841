/**
 * The queues of the broker, from infra/topology.json or from the official emulator's Config.json. All problems are
 * reported together, and the broker does not start.
 */
import { asObject, asObjects } from './json.js';
import { isEmulatorConfig, readEmulatorConfig } from './emulator-config.js';
import { readQueue, type RawProperties } from './queue-properties.js';
import type { QueueSettings } from './queue-settings.js';

/** Azure passes a message on at most this many times. */
const maxForwardHops = 4;

/** Reads and checks a topology. */
export function readTopology(topology: unknown): QueueSettings[] {
  const problems: string[] = [];
  const queues = isEmulatorConfig(topology)
    ? readEmulatorConfig(topology, problems)
    : readProjectTopology(topology, problems);
  checkNames(queues, problems);
  if (problems.length > 0) throw new Error(`The Service Bus topology is wrong: ${problems.join('; ')}.`);
  return queues;
}

const sectionNames = ['queueDefaults', 'queues', 'deadLetterQueue', 'statusQueue'];

function readProjectTopology(topology: unknown, problems: string[]): QueueSettings[] {
  const root = asObject(topology, 'the topology', problems);
  const serviceBus = asObject(root['serviceBus'], 'serviceBus', problems);
  for (const name of Object.keys(serviceBus)) {
    if (!sectionNames.includes(name))
      problems.push(`serviceBus.${name} is not known; known are ${sectionNames.join(', ')}`);
  }
  const defaults = asObject(serviceBus['queueDefaults'] ?? {}, 'serviceBus.queueDefaults', problems);
  const queues = asObjects(serviceBus['queues'], 'serviceBus.queues', problems);
  const applications = asObjects(root['applications'] ?? [], 'applications', problems);
  return [
    ...queues.flatMap((queue) => readDeclared(queue, { defaults, serviceBus }, problems)),
    ...applications.map((application) => readStatusQueue(application, { defaults, serviceBus }, problems)),
  ];
}

interface Shared {
  readonly defaults: RawProperties;
  readonly serviceBus: RawProperties;
}

/** A queue, and the queue its dead letters go to if it asks for one. */
function readDeclared(queue: RawProperties, { defaults, serviceBus }: Shared, problems: string[]): QueueSettings[] {
  const { name, deadLetterQueue = false, ...own } = queue;
  if (deadLetterQueue === false) return [readQueue(name, { ...defaults, ...own }, problems)];
  if (deadLetterQueue !== true) problems.push(`queue ${String(name)}: deadLetterQueue must be true or false`);
  const { nameSuffix, ...deadLetters } = asObject(
    serviceBus['deadLetterQueue'],
    'serviceBus.deadLetterQueue',
    problems,
  );
  const target = `${String(name)}${String(nameSuffix)}`;
  const forwarding = { ...defaults, forwardDeadLetteredMessagesTo: target, ...own };
  return [readQueue(name, forwarding, problems), readQueue(target, { ...defaults, ...deadLetters }, problems)];
}

function readStatusQueue(
  application: RawProperties,
  { defaults, serviceBus }: Shared,
  problems: string[],
): QueueSettings {
  const { namePrefix, ...own } = asObject(serviceBus['statusQueue'], 'serviceBus.statusQueue', problems);
  return readQueue(`${String(namePrefix)}${String(application['name'])}`, { ...defaults, ...own }, problems);
}

function checkNames(queues: readonly QueueSettings[], problems: string[]): void {
  const byName = new Map<string, QueueSettings>();
  for (const queue of queues) {
    const key = queue.name.toLowerCase();
    if (byName.has(key)) problems.push(`queue ${queue.name}: is declared twice`);
    byName.set(key, queue);
  }
  for (const queue of queues) {
    checkRoute(queue, { property: 'forwardTo', next: ({ forwardTo }) => forwardTo }, byName, problems);
    const deadLetters = {
      property: 'forwardDeadLetteredMessagesTo',
      next: (hop: QueueSettings) => hop.forwardDeadLettersTo,
    };
    checkRoute(queue, deadLetters, byName, problems);
  }
}

interface Route {
  readonly property: string;
  readonly next: (queue: QueueSettings) => string | undefined;
}

/** Follows one hop by `route` and the rest by forwardTo, as a message would. */
function checkRoute(
  queue: QueueSettings,
  route: Route,
  byName: ReadonlyMap<string, QueueSettings>,
  problems: string[],
): void {
  let target = route.next(queue);
  for (let hops = 1; target !== undefined; hops += 1) {
    const hop = byName.get(target.toLowerCase());
    if (hop === undefined) {
      problems.push(`queue ${queue.name}: ${route.property} leads to '${target}', which is not declared`);
      return;
    }
    if (hops > maxForwardHops || hop === queue) {
      problems.push(
        `queue ${queue.name}: ${route.property} leads round in a circle or over more than ${maxForwardHops} queues`,
      );
      return;
    }
    target = hop.forwardTo;
  }
}
