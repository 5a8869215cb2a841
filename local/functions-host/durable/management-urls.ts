/** The URLs of the durable HTTP API, as the durable client binding and the answers of the API name them. */

/** Where the API is served and which key the public form needs. */
export interface ManagementUrlOptions {
  readonly origin: string;
  readonly taskHub: string;
  readonly key: string;
}

/** URLs that manage one instance. */
export type ManagementUrls = Readonly<Record<string, string>>;

const publicPath = '/runtime/webhooks/durabletask';

/** The URLs for one instance. */
export function managementUrls(options: ManagementUrlOptions, instanceId: string): ManagementUrls {
  const query = requiredQuery(options);
  const instance = `${options.origin}${publicPath}/instances/${encodeURIComponent(instanceId)}`;
  return {
    id: instanceId,
    statusQueryGetUri: `${instance}?${query}`,
    sendEventPostUri: `${instance}/raiseEvent/{eventName}?${query}`,
    terminatePostUri: `${instance}/terminate?reason={text}&${query}`,
    rewindPostUri: `${instance}/rewind?reason={text}&${query}`,
    purgeHistoryDeleteUri: `${instance}?${query}`,
    restartPostUri: `${instance}/restart?${query}`,
    suspendPostUri: `${instance}/suspend?reason={text}&${query}`,
    resumePostUri: `${instance}/resume?reason={text}&${query}`,
  };
}

/** JSON text that a durable client binding receives. */
export function clientBindingJson(options: ManagementUrlOptions): string {
  const query = requiredQuery(options);
  const create = `${options.origin}${publicPath}/orchestrators/{functionName}[/{instanceId}]?${query}`;
  return JSON.stringify({
    taskHubName: options.taskHub,
    creationUrls: { createNewInstancePostUri: create, createAndWaitOnNewInstancePostUri: create },
    managementUrls: managementUrls(options, 'INSTANCEID'),
    baseUrl: `${options.origin}${publicPath}`,
    requiredQueryStringParameters: `code=${options.key}`,
    rpcBaseUrl: `${options.origin}/durabletask/`,
  });
}

function requiredQuery({ taskHub, key }: ManagementUrlOptions): string {
  return `taskHub=${taskHub}&connection=Storage&code=${key}`;
}
