import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot } from './bicep.js';

const resourceSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  properties: z.unknown().optional(),
});

/** A resource as the snapshot predicts it. */
export type Resource = z.infer<typeof resourceSchema>;

/** The deployments whose snapshots are kept: every default, and everything switched on. */
export const deployments = ['default', 'production'] as const;
export type Deployment = (typeof deployments)[number];

/** All resources of a kept snapshot. bicep.test.ts proves that the snapshots are what the Bicep files say. */
export function predictedResources(deployment: Deployment): readonly Resource[] {
  const file = join(projectRoot, 'test', 'infra', 'golden', `${deployment}.snapshot.json`);
  const snapshot = z.object({ predictedResources: z.array(resourceSchema) });
  return snapshot.parse(JSON.parse(readFileSync(file, 'utf8'))).predictedResources;
}

/** The resources of one type; at least one. */
export function resourcesOf(deployment: Deployment, type: string): readonly Resource[] {
  const found = predictedResources(deployment).filter((resource) => resource.type === type);
  if (found.length === 0) throw new Error(`${deployment}: no resource of type ${type}`);
  return found;
}

/** The only resource of one type. */
export function resourceOf(deployment: Deployment, type: string): Resource {
  const [resource, ...others] = resourcesOf(deployment, type);
  if (resource === undefined || others.length > 0) throw new Error(`${deployment}: not exactly one ${type}`);
  return resource;
}

/** The app settings as predicted; what only Azure knows is an expression in brackets. */
export function appSettingsOf(deployment: Deployment): Readonly<Record<string, string>> {
  const configs = resourcesOf(deployment, 'Microsoft.Web/sites/config');
  const settings = configs.find((item) => item.name.endsWith('/appsettings'));
  return z.record(z.string(), z.string()).parse(settings?.properties);
}

/** The value at a path like `properties.sku.name`; undefined where there is none. */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here;
}

const topologySchema = z.object({
  applications: z.array(z.object({ name: z.string() })),
  serviceBus: z.object({
    queueDefaults: z.record(z.string(), z.unknown()),
    queues: z.array(z.looseObject({ name: z.string(), deadLetterQueue: z.boolean().optional() })),
    deadLetterQueue: z.looseObject({ nameSuffix: z.string() }),
    statusQueue: z.looseObject({ namePrefix: z.string() }),
  }),
  cosmosDb: z.object({
    database: z.string(),
    containers: z.array(
      z.looseObject({
        name: z.string(),
        partitionKey: z.string(),
        defaultTtl: z.number().optional(),
        demo: z.boolean().optional(),
        access: z.array(z.string()),
        indexingPolicy: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
});

/** The topology of the system. */
export const topology = topologySchema.parse(
  JSON.parse(readFileSync(join(projectRoot, 'infra', 'topology.json'), 'utf8')),
);
