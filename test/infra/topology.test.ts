import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, runScript } from './support/bicep.js';

interface Draft {
  applications: { name: string }[];
  serviceBus: { queueDefaults: Record<string, unknown>; queues: Record<string, unknown>[] };
  cosmosDb: { containers: Record<string, unknown>[] };
}

/** What the check says about the topology after a change to it. */
function problemsAfter(change: (topology: Draft) => void): { status: number | null; problems: string } {
  const topology = JSON.parse(readFileSync(join(projectRoot, 'infra', 'topology.json'), 'utf8')) as Draft;
  change(topology);
  const folder = join(projectRoot, '.local', 'infra-tests');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'topology.json');
  writeFileSync(file, JSON.stringify(topology));
  const { status, errors } = runScript('infra/checks/check-topology.mjs', [file]);
  return { status, problems: errors };
}

function firstOf(items: Record<string, unknown>[]): Record<string, unknown> {
  const [first] = items;
  if (first === undefined) throw new Error('the topology has none');
  return first;
}

describe('the topology check', () => {
  it('accepts the topology of the project', () => {
    expect(runScript('infra/checks/check-topology.mjs')).toEqual({ status: 0, output: '', errors: '' });
  });

  it.each<[string, (topology: Draft) => void, string]>([
    ['a capital letter', (t) => t.applications.push({ name: 'WebShop' }), 'application "WebShop": expected 1 to 40'],
    ['a path', (t) => t.applications.push({ name: '../orders' }), 'application "../orders": expected'],
    ['an empty name', (t) => t.applications.push({ name: '' }), 'application "": expected'],
    ['41 characters', (t) => t.applications.push({ name: 'a'.repeat(41) }), 'expected 1 to 40'],
    ['an application twice', (t) => t.applications.push({ name: 'web-shop' }), 'application "web-shop" is there twice'],
    ['no application', (t) => t.applications.splice(0), 'There is no application'],
    ['a space', (t) => t.serviceBus.queues.push({ name: 'my queue' }), 'queue "my queue": expected'],
    ['a queue twice', (t) => t.serviceBus.queues.push({ name: 'orders' }), 'queue "orders" is there twice'],
    ['a made name', (t) => t.serviceBus.queues.push({ name: 'status-web-shop' }), 'this name is made for'],
    ['no orders', (t) => t.serviceBus.queues.splice(0, 1), 'There is no queue "orders"'],
    [
      'a long lock',
      (t) => (firstOf(t.serviceBus.queues)['lockDuration'] = 'PT6M'),
      'lockDuration must be PT5S to PT5M',
    ],
    ['a word', (t) => (firstOf(t.serviceBus.queues)['lockDuration'] = '1 minute'), 'lockDuration must be'],
    ['no delivery', (t) => (firstOf(t.serviceBus.queues)['maxDeliveryCount'] = 0), 'maxDeliveryCount must be'],
    [
      'no dead letters',
      (t) => (firstOf(t.serviceBus.queues)['deadLetterQueue'] = false),
      'deadLetterQueue must be true',
    ],
    [
      'no duplicate detection',
      (t) => (t.serviceBus.queueDefaults['requiresDuplicateDetection'] = false),
      'requiresDuplicateDetection must be true',
    ],
    [
      'duplicate detection for orders',
      (t) => (firstOf(t.serviceBus.queues)['requiresDuplicateDetection'] = true),
      'it would drop orders of applications that chose the same MessageId',
    ],
    ['a container twice', (t) => t.cosmosDb.containers.push({ name: 'orders' }), 'container "orders" is there twice'],
    ['an unknown right', (t) => (firstOf(t.cosmosDb.containers)['access'] = ['all']), '"all" is no right'],
    ['no right', (t) => (firstOf(t.cosmosDb.containers)['access'] = []), 'access must name what the app does'],
    ['no key', (t) => (firstOf(t.cosmosDb.containers)['partitionKey'] = 'id'), 'partitionKey must be a path'],
    ['a lazy index', (t) => (firstOf(t.cosmosDb.containers)['indexingPolicy'] = {}), 'indexingMode must be consistent'],
  ])('refuses %s and says what to do', (_, change, message) => {
    const { status, problems } = problemsAfter(change);
    expect(status).toBe(1);
    expect(problems).toContain(message);
  });

  it('names all problems together', () => {
    const { problems } = problemsAfter((topology) => {
      topology.applications.push({ name: 'A' });
      topology.serviceBus.queues.push({ name: 'B' });
    });
    expect(problems).toContain('application "A"');
    expect(problems).toContain('queue "B"');
  });
});
