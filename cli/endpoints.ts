/**
 * Where the queues and the function app are: on the local stack as `.local/stack.json` says, or where the environment
 * says. Never a mixture of both, so that nobody sends to one system and looks at the other.
 */
import { DefaultAzureCredential } from '@azure/identity';
import { ServiceBusClient } from '@azure/service-bus';
import type { AnnouncedStack } from '../local/stack-file.js';
import { CommandError } from './errors.js';
import type { AppEndpoint } from './orders/order-api.js';

/** The doors of the system. Each throws an error that says what to do when it is not known. */
export interface Endpoints {
  /** A client of the queues; the caller closes it. */
  serviceBus(): ServiceBusClient;
  app(): AppEndpoint;
}

/** Names of the environment variables. */
export const environmentNames = {
  serviceBus: 'ORDERS_SERVICE_BUS',
  appUrl: 'ORDERS_APP_URL',
  appKey: 'ORDERS_APP_KEY',
} as const;

/** How the variables are explained to people. */
export const environmentHelp = `Without these variables the local stack is used, which \`npm run local\` starts:

  ${environmentNames.serviceBus}   host name of the namespace (signs in as you do with \`az login\`), or a connection string
  ${environmentNames.appUrl}       address of the function app
  ${environmentNames.appKey}       function key of the app, for show, watch, resubmit and compensate`;

/** Where to look. */
export interface EndpointSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** May throw an error that says why it is not known whether a stack runs. */
  readonly findStack: () => AnnouncedStack | undefined;
}

const noStack =
  'No local stack is running. Start one in another terminal: npm run local ' +
  `(or set ${environmentNames.serviceBus} and ${environmentNames.appUrl} for a system in Azure)`;

/** A broker that does not answer shows after seconds, not after the SDK's minutes. */
const retryOptions = { maxRetries: 1, retryDelayInMs: 500, timeoutInMs: 10_000 };

/** Finds the endpoints. */
export function findEndpoints({ environment, findStack }: EndpointSources): Endpoints {
  const serviceBus = setting(environment, environmentNames.serviceBus);
  const url = setting(environment, environmentNames.appUrl);
  const key = setting(environment, environmentNames.appKey);
  const isElsewhere = serviceBus !== undefined || url !== undefined;
  return isElsewhere ? remoteEndpoints({ serviceBus, url, key }) : localEndpoints(findStack, proxyHint(environment));
}

function setting(environment: EndpointSources['environment'], name: string): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

/** Node sends requests to a proxy on request, those to this machine too. */
function proxyHint(environment: EndpointSources['environment']): string {
  const value = (name: string): string => environment[name] ?? environment[name.toLowerCase()] ?? '';
  const isUsed = environment['NODE_USE_ENV_PROXY'] === '1' && value('HTTP_PROXY') !== '';
  const isExcepted = value('NO_PROXY')
    .split(',')
    .some((host) => ['*', '127.0.0.1'].includes(host.trim()));
  return isUsed && !isExcepted ? ' A proxy is in force (HTTP_PROXY): set NO_PROXY=127.0.0.1.' : '';
}

function localEndpoints(findStack: EndpointSources['findStack'], proxy: string): Endpoints {
  const stack = (): AnnouncedStack => {
    const found = orCommandError(findStack);
    if (found === undefined) throw new CommandError(noStack);
    return found;
  };
  return {
    serviceBus: () => new ServiceBusClient(stack().connectionString, { retryOptions }),
    app: () => ({ url: stack().hostUrl, key: stack().hostKey, hint: `Look at the terminal of npm run local.${proxy}` }),
  };
}

function orCommandError<Result>(find: () => Result): Result {
  try {
    return find();
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

interface RemoteSettings {
  readonly serviceBus: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
}

function remoteEndpoints({ serviceBus, url, key }: RemoteSettings): Endpoints {
  return {
    serviceBus() {
      const target = required(serviceBus, environmentNames.serviceBus);
      try {
        return target.includes('Endpoint=')
          ? new ServiceBusClient(target, { retryOptions })
          : new ServiceBusClient(target, new DefaultAzureCredential(), { retryOptions });
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        throw new CommandError(`${environmentNames.serviceBus} is wrong: ${problem}`, { cause: error });
      }
    },
    app() {
      const address = required(url, environmentNames.appUrl);
      if (!URL.canParse(address)) throw new CommandError(`${environmentNames.appUrl} is no address: ${address}`);
      return { url: address, key, hint: `Check ${environmentNames.appUrl} and ${environmentNames.appKey}.` };
    },
  };
}

function required(value: string | undefined, name: string): string {
  if (value !== undefined) return value;
  throw new CommandError(`${name} is not set, but the other address is. Set both, or none for the local stack.`);
}
