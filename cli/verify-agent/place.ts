/** Where the agent is: behind the queues of a system that runs, or on a stack started for it. */
import { ServiceBusClient } from '@azure/service-bus';
import { findProjectRoot } from '../../local/project.js';
import { startStack } from '../../local/stack.js';
import { readLiveStackFile } from '../../local/stack-file.js';
import { createStackLog } from '../demo/stack-log.js';
import { environmentNames, findEndpoints } from '../endpoints.js';
import { CommandError } from '../errors.js';
import type { VerifyOptions } from './options.js';

/** An open way to the agent. */
export interface Place {
  readonly client: ServiceBusClient;
  readonly ledgerUrl: string | undefined;
  /** What a stack of ours said last; empty for an agent elsewhere. */
  readonly lastLines: () => readonly string[];
  close(): Promise<void>;
}

/** Opens the place that the options name. */
export async function openPlace({ localAgent, serviceBus, ledgerUrl }: VerifyOptions): Promise<Place> {
  if (localAgent !== undefined) return openOwnStack(localAgent);
  const named = serviceBus === undefined ? process.env : { [environmentNames.serviceBus]: serviceBus };
  const endpoints = findEndpoints({ environment: named, findStack: () => readLiveStackFile(findProjectRoot()) });
  const client = endpoints.serviceBus();
  return { client, ledgerUrl, lastLines: () => [], close: () => client.close() };
}

/** A stack on free ports and temporary data, on which nobody takes the agent's replies. */
async function openOwnStack(agent: string): Promise<Place> {
  const log = createStackLog();
  const stack = await startStack({
    settings: { [`AzureWebJobs.agent-reply-${agent}.Disabled`]: 'true' },
    log: log.add,
  }).catch((error: unknown) => {
    throw new CommandError(['The local stack did not start.', ...log.lastLines()].join('\n'), { cause: error });
  });
  const client = new ServiceBusClient(stack.connectionString, { retryOptions: { maxRetries: 3, retryDelayInMs: 300 } });
  return {
    client,
    ledgerUrl: `${stack.hostUrl}/api/demo/ledger`,
    lastLines: () => log.lastLines(),
    async close() {
      await client.close();
      await stack.stop();
    },
  };
}
