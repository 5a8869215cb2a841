/** A second Functions host with the same app on the first one's broker and Cosmos DB, as during an overlapping deployment. */
import { startStack } from '../../local/stack.js';
import type { App } from './app-stack.js';
import { invokeFunction } from './app-stack.js';

/** The second host. */
export interface SecondHost {
  invoke(functionName: string): Promise<void>;
  counters(): Promise<Readonly<Record<string, number>>>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Every function of the app that runs by itself. */
const selfRunning: readonly string[] = [
  'submit',
  'starter',
  'payment-agent',
  'shipping-agent',
  'agent-reply-payment',
  'agent-reply-shipping',
  'supervisor',
  'supervisor-audit',
  'supervisor-hint',
];

/** Starts a host in which only these functions run by themselves. It has a task hub of its own. */
export async function startSecondHost(app: App, running: readonly string[]): Promise<SecondHost> {
  const isDisabled = (name: string): string => String(!running.includes(name));
  const shared = Object.entries(app.stack.settings).filter(([name]) => name !== 'WEBSITE_HOSTNAME');
  const stack = await startStack({
    settings: {
      ...Object.fromEntries(shared),
      ...Object.fromEntries(selfRunning.map((name) => [`AzureWebJobs.${name}.Disabled`, isDisabled(name)])),
    },
  });
  return {
    invoke: (functionName) => invokeFunction(stack, functionName),
    counters: () => stack.counters('functions-host'),
    kill: () => stack.kill('functions-host'),
    stop: () => stack.stop(),
  };
}
