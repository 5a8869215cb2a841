import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentReplyQueueName, agentRequestQueueName, stepIdSchema } from '../../functions/contracts/identifiers.js';
import { parseCommandArguments } from '../command.js';
import type { GivenOptions } from '../command.js';
import { UsageError } from '../errors.js';
import type { AgentQueues, Patience } from './agent-link.js';

/** What is to be verified, and how. */
export interface VerifyOptions {
  /** A stack of our own, with the agent of this app; `undefined`: an agent that runs elsewhere. */
  readonly localAgent: string | undefined;
  /** Connection string or host name; `undefined`: as for the rest of the command line. */
  readonly serviceBus: string | undefined;
  readonly queues: AgentQueues;
  readonly stepId: string;
  readonly payloadFile: string;
  readonly ledgerUrl: string | undefined;
  readonly patience: Patience;
  readonly asJson: boolean;
}

export const verifyUsage = `Usage: npm run verify-agent -- --local <agent>
       npm run verify-agent -- --agent <agent> --payload <file> [options]

Checks an agent behind a request and a reply queue against docs/bring-your-own-agent.md.

  --local <agent>         our own payment or shipping agent, on a stack started for it
  --agent <agent>         the queues <agent>-requests, <agent>-replies, <agent>-requests-dead-letter
  --requests <queue>      another request queue
  --replies <queue>       another reply queue
  --dead-letters <queue>  another dead-letter queue
  --step <id>             the step that the requests are for; as the agent is called
  --payload <file>        JSON: {"success": {…}, "refusal": {…}, "failure": {…}, "unknown": {…}}, each a payload
                          that brings this about; only success is needed
  --ledger-url <url>      counts effects: GET <url>/<orderId>, as the demo's ledger answers
  --service-bus <where>   connection string, or host name of a namespace (signs in as you do with \`az login\`);
                          better in ORDERS_SERVICE_BUS, as options show in the list of processes;
                          neither: the local stack that runs
  --timeout-ms <n>        how long a reply may take (10000)
  --quiet-ms <n>          how long nothing must come after a request has left its queue (1000)
  --json                  the result as JSON
  --help

Nobody else may receive from the reply queue meanwhile: start the local stack without the app (npm run local -- --no-host),
turn the app's function off in Azure with the setting AzureWebJobs.agent-reply-<agent>.Disabled=true, or give the agent
a reply queue of its own for this.
Exit code: 0 all passed, 1 something failed, 2 wrong usage or it could not be run.`;

const options = {
  local: { type: 'string' },
  agent: { type: 'string' },
  requests: { type: 'string' },
  replies: { type: 'string' },
  'dead-letters': { type: 'string' },
  step: { type: 'string' },
  payload: { type: 'string' },
  'ledger-url': { type: 'string' },
  'service-bus': { type: 'string' },
  'timeout-ms': { type: 'string' },
  'quiet-ms': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Options that say where an agent is; with --local that is known. */
const placeOptions = ['agent', 'requests', 'replies', 'dead-letters', 'service-bus', 'ledger-url'];

const millisecondsRange = { min: 1, max: 600_000 };

/**
 * Reads the arguments.
 *
 * @param root the project's folder, with the payloads of its own agents
 * @throws UsageError
 */
export function parseVerifyOptions(args: readonly string[], root: string): VerifyOptions | 'help' {
  const { options: given } = parseCommandArguments({ options, positionals: { min: 0, max: 0 } }, args);
  if (given.flag('help')) return 'help';
  const localAgent = given.text('local');
  const surplus = localAgent === undefined ? undefined : placeOptions.find((name) => given.text(name) !== undefined);
  if (surplus !== undefined) throw new UsageError(`--local and --${surplus} exclude each other.`);
  const agent = localAgent ?? given.text('agent');
  const ledgerUrl = given.text('ledger-url');
  if (ledgerUrl !== undefined && !URL.canParse(ledgerUrl)) throw new UsageError(`--ledger-url is no URL: ${ledgerUrl}`);
  return {
    localAgent,
    serviceBus: given.text('service-bus'),
    queues: queuesOf(agent, given),
    stepId: stepOf(agent, given),
    payloadFile: given.text('payload') ?? ownPayloads(agent, root),
    ledgerUrl,
    patience: {
      timeoutMs: given.count('timeout-ms', millisecondsRange) ?? 10_000,
      quietMs: given.count('quiet-ms', millisecondsRange) ?? 1_000,
    },
    asJson: given.flag('json'),
  };
}

function queuesOf(agent: string | undefined, given: GivenOptions): AgentQueues {
  const requests = given.text('requests') ?? (agent === undefined ? undefined : agentRequestQueueName(agent));
  const replies = given.text('replies') ?? (agent === undefined ? undefined : agentReplyQueueName(agent));
  if (requests === undefined || replies === undefined) {
    throw new UsageError('Which agent? Name --local, --agent, or both --requests and --replies.');
  }
  return { requests, replies, deadLetters: given.text('dead-letters') ?? `${requests}-dead-letter` };
}

function stepOf(agent: string | undefined, given: GivenOptions): string {
  const step = given.text('step') ?? agent;
  if (step === undefined) throw new UsageError('--step is missing: with which step do the requests come?');
  if (!stepIdSchema.safeParse(step).success) throw new UsageError(`"${step}" is no step id; name one with --step.`);
  return step;
}

/** The agents of the example have their payloads here. */
function ownPayloads(agent: string | undefined, root: string): string {
  const path = join(root, 'cli', 'verify-agent', 'payloads', `${agent ?? ''}.json`);
  if (existsSync(path)) return path;
  throw new UsageError(
    '--payload is missing: what do the requests carry? An example: cli/verify-agent/payloads/payment.json',
  );
}
