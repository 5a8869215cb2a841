/** The settings of the function app on the local stack: those of local.settings.sample.json with the live addresses. */
import { join } from 'node:path';
import { readJsonFile } from './project.js';

export type Settings = Readonly<Record<string, string>>;

/** Where Core Tools listens by default; the sample's values name the app's own address with it. */
export const sampleHostPort = 7071;
const sampleHostUrl = new RegExp(`http://127\\.0\\.0\\.1:${sampleHostPort}(?![0-9])`, 'g');

/** The addresses of a running stack. */
export interface StackAddresses {
  readonly connectionString: string;
  readonly cosmosEndpoint: string;
  readonly cosmosKey: string;
  readonly hostUrl: string;
}

/** Reads `Values` of the app's local.settings.sample.json. */
export function readSampleSettings(appDirectory: string): Settings {
  const path = join(appDirectory, 'local.settings.sample.json');
  const file = readJsonFile(path, "the app's settings");
  const values = typeof file === 'object' && file !== null && 'Values' in file ? file.Values : undefined;
  if (!isSettings(values)) throw new Error(`${path} must hold an object "Values" whose values are all strings.`);
  return values;
}

/** Sample values, then live addresses, then `overrides`; a later one wins. */
export function appSettings(sample: Settings, addresses: StackAddresses, overrides: Settings = {}): Settings {
  const { connectionString, cosmosEndpoint, cosmosKey, hostUrl } = addresses;
  const withHostUrl = Object.entries(sample).map(([name, value]) => [name, value.replaceAll(sampleHostUrl, hostUrl)]);
  return {
    ...(Object.fromEntries(withHostUrl) as Settings),
    ServiceBusConnection: connectionString,
    COSMOS_ENDPOINT: cosmosEndpoint,
    COSMOS_KEY: cosmosKey,
    WEBSITE_HOSTNAME: new URL(hostUrl).host,
    AzureWebJobsStorage: 'UseDevelopmentStorage=true',
    ...overrides,
  };
}

function isSettings(value: unknown): value is Settings {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === 'string')
  );
}
