/** Reads the official Service Bus emulator's Config.json, so that one file can serve both. */
import { asObject, asObjects } from './json.js';
import { readQueue, type RawProperties } from './queue-properties.js';
import type { QueueSettings } from './queue-settings.js';

/** True for a file of the official emulator's form. */
export function isEmulatorConfig(topology: unknown): topology is { readonly UserConfig: unknown } {
  return typeof topology === 'object' && topology !== null && 'UserConfig' in topology;
}

/** The queues of its only namespace. */
export function readEmulatorConfig(config: { readonly UserConfig: unknown }, problems: string[]): QueueSettings[] {
  const userConfig = asObject(config.UserConfig, 'UserConfig', problems);
  const namespaces = asObjects(userConfig['Namespaces'], 'UserConfig.Namespaces', problems);
  if (namespaces.length !== 1) problems.push('UserConfig.Namespaces must hold exactly one namespace');
  const topics = asObjects(namespaces[0]?.['Topics'] ?? [], 'Topics', problems);
  if (topics.length > 0) {
    problems.push('Topics are not supported by the embedded broker; use the official Service Bus emulator or Azure');
  }
  const queues = asObjects(namespaces[0]?.['Queues'] ?? [], 'Queues', problems);
  return queues.map((queue) => {
    const properties = asObject(queue['Properties'] ?? {}, `queue ${String(queue['Name'])}: Properties`, problems);
    return readQueue(queue['Name'], inCamelCase(properties), problems);
  });
}

function inCamelCase(properties: RawProperties): RawProperties {
  const entries = Object.entries(properties).map(([name, value]) => [
    name.charAt(0).toLowerCase() + name.slice(1),
    value,
  ]);
  return Object.fromEntries(entries) as RawProperties;
}
