import { z } from 'zod';

const brokerPropertiesSchema = z.object({
  lockDuration: z.string(),
  maxDeliveryCount: z.number(),
  defaultMessageTimeToLive: z.string(),
  deadLetteringOnMessageExpiration: z.boolean(),
  requiresDuplicateDetection: z.boolean(),
  duplicateDetectionHistoryTimeWindow: z.string(),
});

const ownProperties = brokerPropertiesSchema.partial();

/** What the official emulators need of infra/topology.json. */
export const topologySchema = z.object({
  applications: z.array(z.object({ name: z.string() })),
  serviceBus: z.object({
    queueDefaults: brokerPropertiesSchema,
    queues: z.array(ownProperties.extend({ name: z.string(), deadLetterQueue: z.boolean().optional() })),
    deadLetterQueue: ownProperties.extend({ nameSuffix: z.string() }),
    statusQueue: ownProperties.extend({ namePrefix: z.string() }),
  }),
  cosmosDb: z.object({
    database: z.string(),
    containers: z.array(
      z.object({
        name: z.string(),
        partitionKey: z.string().startsWith('/'),
        defaultTtl: z.number().optional(),
        indexingPolicy: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
});

export type Topology = z.infer<typeof topologySchema>;
export type BrokerProperties = z.infer<typeof brokerPropertiesSchema>;

/** The properties of a queue: its own, else the defaults. */
export function withDefaults(defaults: BrokerProperties, own: z.infer<typeof ownProperties>): BrokerProperties {
  return brokerPropertiesSchema.parse({ ...defaults, ...own });
}
