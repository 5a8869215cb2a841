/** An effect point: one operation of the app that another part can see, and that a fault can hit. */
import { findProjectRoot, readJsonFile } from '../../../local/project.js';
import type { FaultAction, FaultPlan } from '../../../local/faults/index.js';
import type { PartName } from '../../../local/stack.js';

/** The nth time, from 1, that one order makes a part do an operation on an entity. */
export interface Effect {
  readonly part: PartName;
  readonly operation: string;
  readonly entity: string;
  readonly nth: number;
}

/** What an effect is called in lists and titles. */
export function effectName({ part, operation, entity, nth }: Effect): string {
  return `${part}/${operation}/${entity}#${nth}`;
}

/** The effect of a name. */
export function parseEffect(name: string): Effect {
  const match = /^([a-z-]+)\/(\w+)\/([^#]+)#(\d+)$/.exec(name);
  if (match === null) throw new Error(`"${name}" is no effect`);
  const [, part, operation, entity, nth] = match;
  return { part: part as PartName, operation: String(operation), entity: String(entity), nth: Number(nth) };
}

/** A plan that does this to the effect, once. */
export function faultOn({ operation, entity, nth }: Effect, action: FaultAction): FaultPlan {
  return { seed: 1, rules: [{ operation, entity, action, skip: nth - 1, times: 1 }] };
}

/** How often a fault has hit this kind of effect since its part started. */
export function hitsOf(
  counters: Readonly<Record<string, number>>,
  { operation, entity }: Omit<Effect, 'nth'>,
  action: FaultAction,
): number {
  const rule = `${operation}/${entity}/${action}`;
  return counters[`faults/${rule}`] ?? 0;
}

interface Topology {
  readonly serviceBus: { readonly queues: readonly { readonly name: string }[] };
  readonly cosmosDb: { readonly containers: readonly { readonly name: string; readonly access?: readonly string[] }[] };
}

/** Operations without an effect on an order: reading, and the starter's count of the load (a cell of its own). */
const withoutEffect: readonly string[] = ['read', 'query'];
const background: readonly string[] = ['control'];

/** Every operation of every part that is an effect, from the topology and the functions that the app registers. */
export async function effectKinds(hostUrl: string): Promise<readonly Omit<Effect, 'nth'>[]> {
  const topology = readJsonFile(`${findProjectRoot()}/infra/topology.json`, 'the topology') as Topology;
  const queues = topology.serviceBus.queues.map(({ name }) => name);
  const sends = [...queues, ...queues.map((name) => `${name}-dead-letter`), 'status-web-shop'];
  const containers = topology.cosmosDb.containers.filter(({ name }) => !background.includes(name));
  const kind = (part: PartName, operation: string, entity: string): Omit<Effect, 'nth'> => ({
    part,
    operation,
    entity,
  });
  return [
    ...(await hostKinds(hostUrl)),
    ...containers.flatMap(({ name, access = [] }) =>
      access.filter((verb) => !withoutEffect.includes(verb)).map((verb) => kind('cosmos-db', verb, name)),
    ),
    ...sends.map((name) => kind('service-bus', 'send', name)),
    ...queues.map((name) => kind('service-bus', 'settle', name)),
  ];
}

interface ShownFunction {
  readonly name: string;
  readonly config: { readonly bindings: readonly { readonly type: string; readonly queueName?: string }[] };
}

async function hostKinds(hostUrl: string): Promise<Omit<Effect, 'nth'>[]> {
  const response = await fetch(`${hostUrl}/admin/functions`);
  const functions = (await response.json()) as readonly ShownFunction[];
  return functions.flatMap(({ name, config }) => {
    const operations = config.bindings.flatMap(({ type }) => hostOperations[type] ?? []);
    const isRead = name === 'demo-ledger' || name === 'operator-show';
    const own = isRead
      ? []
      : operations.map((operation) => ({ part: 'functions-host' as const, operation, entity: name }));
    const replies = config.bindings.flatMap(({ queueName }) => /^(.+)-replies$/.exec(queueName ?? '')?.[1] ?? []);
    const raises = replies.map((agent) => ({
      part: 'functions-host' as const,
      operation: 'raiseEvent',
      entity: `reply.${agent}`,
    }));
    return [...own, ...raises];
  });
}

const hostOperations: Readonly<Record<string, readonly string[]>> = {
  orchestrationTrigger: ['startOrchestration', 'turn'],
  activityTrigger: ['activity'],
  httpTrigger: ['invoke'],
};
