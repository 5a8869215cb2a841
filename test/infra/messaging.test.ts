import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './support/bicep.js';
import { at, deployments, resourceOf, resourcesOf, topology } from './support/resources.js';
import type { Deployment, Resource } from './support/resources.js';

const { queueDefaults, queues, deadLetterQueue, statusQueue } = topology.serviceBus;
const suffix = deadLetterQueue.nameSuffix;

function deployedQueues(deployment: Deployment): ReadonlyMap<string, Resource> {
  const found = resourcesOf(deployment, 'Microsoft.ServiceBus/namespaces/queues');
  return new Map(found.map((queue) => [queue.name.split('/')[1] ?? '', queue]));
}

function withoutTopologyWords(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const words = ['name', 'deadLetterQueue', 'nameSuffix', 'namePrefix'];
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !words.includes(key)));
}

describe.each(deployments)('the queues of the %s deployment', (deployment) => {
  const deployed = deployedQueues(deployment);
  const extra = deployment === 'production' ? ['call-centre'] : [];
  const applications = [...topology.applications.map(({ name }) => name), ...extra];

  it('are those of the topology, one dead-letter queue each, and a status queue for each application', () => {
    const expected = [
      ...queues.map(({ name }) => name),
      ...queues.filter((queue) => queue.deadLetterQueue === true).map(({ name }) => `${name}${suffix}`),
      ...applications.map((name) => `${statusQueue.namePrefix}${name}`),
    ];
    expect([...deployed.keys()].sort()).toEqual(expected.sort());
  });

  it('have every property that the topology gives them', () => {
    for (const queue of queues) {
      const expected = withoutTopologyWords({ ...queueDefaults, ...queue });
      expect(deployed.get(queue.name)?.properties, queue.name).toMatchObject(expected);
      const deadLetters = withoutTopologyWords({ ...queueDefaults, ...deadLetterQueue });
      expect(deployed.get(`${queue.name}${suffix}`)?.properties, queue.name).toMatchObject(deadLetters);
    }
    for (const name of applications) {
      const expected = withoutTopologyWords({ ...queueDefaults, ...statusQueue });
      expect(deployed.get(`${statusQueue.namePrefix}${name}`)?.properties, name).toMatchObject(expected);
    }
  });

  it('deliver a status again for as long as it lives, however often a handler of the order client fails (T48)', () => {
    const heldBetweenDeliveriesMinutes = 10;
    const livesMinutes = 7 * 24 * 60;
    for (const name of applications) {
      const properties = deployed.get(`${statusQueue.namePrefix}${name}`)?.properties;
      expect(properties, name).toMatchObject({ defaultMessageTimeToLive: 'P7D' });
      const deliveries = Number(at({ properties }, 'properties.maxDeliveryCount'));
      expect(deliveries * heldBetweenDeliveriesMinutes, name).toBeGreaterThan(livesMinutes);
    }
  });

  it('keep no expired agent request, which holds a payment token and whose attempt is recovered anyway (R47)', () => {
    const requests = queues.filter(({ name }) => name.endsWith('-requests'));
    expect(requests.length).toBeGreaterThan(1);
    for (const queue of requests)
      expect({ ...queueDefaults, ...queue }['deadLetteringOnMessageExpiration']).toBe(false);
  });

  it('detect duplicates, which cannot be added later, where the app chooses the ids, and keep all else (C93)', () => {
    for (const [name, queue] of deployed) {
      const keepsEveryMessage = name === 'orders' || name.endsWith(suffix);
      expect(at(queue, 'properties.requiresDuplicateDetection'), name).toBe(!keepsEveryMessage);
    }
    const sku = at(resourceOf(deployment, 'Microsoft.ServiceBus/namespaces'), 'sku.name');
    expect(['Standard', 'Premium']).toContain(sku);
  });

  it('forward dead letters where there is a queue for them, and carry no empty name otherwise (C94)', () => {
    for (const [name, queue] of deployed) {
      const properties = queue.properties as Readonly<Record<string, unknown>>;
      const source = queues.find((item) => item.name === name);
      const target = source?.deadLetterQueue === true ? `${name}${suffix}` : undefined;
      expect(properties['forwardDeadLetteredMessagesTo'], name).toBe(target);
      expect('forwardDeadLetteredMessagesTo' in properties, name).toBe(target !== undefined);
    }
  });
});

describe('the capacity of the namespace', () => {
  it('is bought only for Premium: Standard knows no messaging units', () => {
    expect(resourceOf('default', 'Microsoft.ServiceBus/namespaces')['sku']).toEqual({
      name: 'Standard',
      tier: 'Standard',
    });
    expect(resourceOf('production', 'Microsoft.ServiceBus/namespaces')['sku']).toEqual({
      name: 'Premium',
      tier: 'Premium',
      capacity: 2,
    });
  });
});

describe('names in the code', () => {
  const files = readdirSync(join(projectRoot, 'functions'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const source = files.map((file) => readFileSync(join(projectRoot, 'functions', file), 'utf8')).join('\n');

  it('of containers are those of the topology, and all of them are used', () => {
    for (const { name } of topology.cosmosDb.containers) expect(source).toContain(`'${name}'`);
    for (const [, name] of source.matchAll(/\.container\('([^']+)'\)/g)) {
      expect(topology.cosmosDb.containers.map((container) => container.name)).toContain(name);
    }
  });

  it('of queues are those of the topology: one for orders, one for hints, a pair for each agent behind queues', () => {
    const agents = [...source.matchAll(/registerReplyQueue\('([a-z-]+)'\)/g)].map(([, agent]) => String(agent));
    const pairs = agents.flatMap((agent) => [`${agent}-requests`, `${agent}-replies`]);
    const fixed = ['orders', 'supervisor-hints'];
    for (const name of fixed) expect(source).toContain(`'${name}'`);
    expect([...fixed, ...pairs].sort()).toEqual(queues.map(({ name }) => name).sort());
  });
});
