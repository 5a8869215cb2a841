/** From the arguments to the exit code. */
import { isServiceBusError } from '@azure/service-bus';
import { CommandError, UsageError } from '../errors.js';
import { explain as explainError } from '../explain.js';
import type { Screen } from '../terminal/screen.js';
import { openAgentLink } from './agent-link.js';
import { runChecks } from './checks/all.js';
import type { CheckResult } from './checks/all.js';
import { createLedgerCounter } from './effects.js';
import { parseVerifyOptions, verifyUsage } from './options.js';
import type { VerifyOptions } from './options.js';
import { readPayloads } from './payloads.js';
import { openPlace } from './place.js';
import type { Place } from './place.js';
import { drawReport, hasFailed, reportAsJson } from './report.js';
import { createRequestFactory } from './requests.js';

/** What a run works with. */
export interface VerifyContext {
  readonly root: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
  readonly printError: (text: string) => void;
}

const exitCodes = { conforms: 0, breaksTheContract: 1, couldNotRun: 2, interrupted: 130 } as const;

/** Verifies the agent that the arguments name; answers the exit code. */
export async function verifyAgent(args: readonly string[], context: VerifyContext): Promise<number> {
  const { root, screen, signal, printError } = context;
  try {
    const options = parseVerifyOptions(args, root);
    if (options !== 'help') return await verify(options, context);
    screen.print(verifyUsage);
    return exitCodes.conforms;
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    printError(explain(error));
    return exitCodes.couldNotRun;
  }
}

async function verify(options: VerifyOptions, context: VerifyContext): Promise<number> {
  const payloads = readPayloads(options.payloadFile);
  if (options.localAgent !== undefined && !options.asJson) context.screen.print('Starting a stack for the agent …');
  const place = await openPlace(options);
  try {
    const results = await check(options, place, { ...context, payloads });
    const lines = options.asJson ? [reportAsJson(results)] : drawReport(results, context.screen);
    for (const line of lines) context.screen.print(line);
    return hasFailed(results) ? exitCodes.breaksTheContract : exitCodes.conforms;
  } catch (error) {
    if (!context.signal.aborted) for (const line of place.lastLines()) context.printError(line);
    throw error;
  } finally {
    await place.close();
  }
}

async function check(
  { queues, patience, stepId, asJson }: VerifyOptions,
  { client, ledgerUrl }: Place,
  { screen, signal, payloads }: VerifyContext & { readonly payloads: ReturnType<typeof readPayloads> },
): Promise<readonly CheckResult[]> {
  const link = await openAgentLink(client, queues, { ...patience, signal });
  const bench = {
    link,
    requests: createRequestFactory(stepId, patience.timeoutMs),
    payloads,
    effects: ledgerUrl === undefined ? undefined : createLedgerCounter(ledgerUrl, stepId),
  };
  if (!asJson) screen.print(`Asking the agent behind ${queues.requests}; orders verify-${bench.requests.runId}-…`);
  const results = await runChecks(bench, ({ check: { title } }) => {
    screen.draw([`… ${title}`]);
  });
  screen.draw([]);
  if (await link.doRepliesStay()) return results;
  throw new CommandError(
    `Somebody else receives from ${queues.replies}, so nothing can be told. On the local stack, leave the app out ` +
      '(npm run local -- --no-host); in Azure, turn off its function (AzureWebJobs.agent-reply-<agent>.Disabled=true), ' +
      'or give the agent a reply queue of its own.',
  );
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${verifyUsage}`;
  if (error instanceof CommandError) return error.message;
  if (!isServiceBusError(error)) return explainError(error);
  switch (error.code) {
    case 'UnauthorizedAccess':
      return `Service Bus refuses the access: ${error.message}\nThis takes Send and Listen on the agent's three queues.`;
    case 'MessagingEntityNotFound':
      return `${error.message}\nName the queues with --requests, --replies and --dead-letters.`;
    default:
      return `Service Bus does not answer (${error.code}): ${error.message}`;
  }
}
