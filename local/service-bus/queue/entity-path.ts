/** Addresses of queues and their sub-queues and management nodes. */

/** What follows a queue's name in the address of its dead letters. */
export const deadLetterSuffix = '/$DeadLetterQueue';
const managementSuffix = '/$management';

/** An address taken apart. */
export interface EntityPath {
  /** The queue or dead-letter sub-queue. */
  readonly entity: string;
  readonly isManagement: boolean;
}

/** Takes an address such as `orders/$DeadLetterQueue/$management` apart. */
export function parseEntityPath(address: string): EntityPath {
  const path = address.replace(/^\/+|\/+$/g, '');
  const isManagement = path.toLowerCase().endsWith(managementSuffix);
  return { entity: isManagement ? path.slice(0, -managementSuffix.length) : path, isManagement };
}

/** The queue that a sub-queue or management node belongs to; names of queues may have slashes. */
export function queueOf(entity: string): string {
  return entity.split('/$', 1)[0] ?? entity;
}

/** What kind of address this is when it names something the broker does not have. */
export function unsupportedFeature(address: string): string | undefined {
  const path = address.toLowerCase();
  if (path.includes('/subscriptions/')) return 'topics and subscriptions';
  if (path.includes('/$transfer/')) return 'transfer dead-letter queues';
  return undefined;
}
