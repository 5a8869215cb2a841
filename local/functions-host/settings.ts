/**
 * App settings: environment variables of the app, `%NAME%` in binding options, and connections.
 * All but the reading of local.settings.json is pure over a map of variables.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Variables = Readonly<Record<string, string | undefined>>;

interface LocalSettings {
  readonly IsEncrypted?: unknown;
  readonly Values?: Readonly<Record<string, unknown>>;
}

/** The values of local.settings.json; empty if the app has none. */
export function readLocalSettings(appDirectory: string): Variables {
  const file = join(appDirectory, 'local.settings.json');
  if (!existsSync(file)) return {};
  const { IsEncrypted: isEncrypted, Values: values = {} } = JSON.parse(readFileSync(file, 'utf8')) as LocalSettings;
  if (isEncrypted === true) throw new Error(`${file} is encrypted. Run "func settings decrypt".`);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** What Azure sets for the app; the durable client needs WEBSITE_HOSTNAME to leave the URLs alone. */
export function hostVariables(port: number): { readonly fixed: Variables; readonly defaults: Variables } {
  return {
    fixed: { WEBSITE_HOSTNAME: `127.0.0.1:${port}` },
    defaults: {
      WEBSITE_SITE_NAME: 'local',
      WEBSITE_INSTANCE_ID: 'local',
      AZURE_FUNCTIONS_ENVIRONMENT: 'Development',
      FUNCTIONS_WORKER_RUNTIME: 'node',
    },
  };
}

/** Replaces every `%NAME%` by the setting of that name. */
export function resolveExpressions(text: string, usedBy: string, variables: Variables): string {
  return text.replaceAll(/%([^%]+)%/g, (_expression, name: string) => {
    const value = readSetting(name, variables);
    if (value !== undefined && value !== '') return value;
    throw new Error(`${usedBy} needs the app setting "${name}" (%${name}%), which is not set.`);
  });
}

/** A setting's value; `:` in a name may be written as `__`, and Windows spelling does not count. */
export function readSetting(name: string, variables: Variables): string | undefined {
  return variables[name] ?? variables[name.replaceAll(':', '__')];
}

/** A connection as a binding names it: a setting with a connection string, or a prefix of identity settings. */
export function resolveConnection(connection: unknown, usedBy: string, variables: Variables): string {
  const name = typeof connection === 'string' && connection !== '' ? connection : 'AzureWebJobsServiceBus';
  const value = readSetting(name, variables) ?? readSetting(`AzureWebJobs${name}`, variables);
  if (value !== undefined && value !== '') return value;
  const namespace = readSetting(`${name}__fullyQualifiedNamespace`, variables);
  if (namespace !== undefined) {
    throw new Error(
      `${usedBy} connects by identity ("${name}__fullyQualifiedNamespace"), which the local host does not support. ` +
        `Set "${name}" to a connection string.`,
    );
  }
  throw new Error(`${usedBy} needs the app setting "${name}" with a connection string, which is not set.`);
}

/** Whether `AzureWebJobs.<name>.Disabled` turns the function off. */
export function isDisabled(functionName: string, variables: Variables): boolean {
  const value =
    variables[`AzureWebJobs.${functionName}.Disabled`] ?? variables[`AzureWebJobs_${functionName}_Disabled`];
  return value === '1' || value?.toLowerCase() === 'true';
}
