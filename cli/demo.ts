/** `npm run demo`: starts the local stack in a temporary directory, lets orders flow and shows what becomes of them. */
import { once } from 'node:events';
import { findProjectRoot } from '../local/project.js';
import { startStack } from '../local/stack.js';
import type { Stack } from '../local/stack.js';
import { announceStack } from '../local/stack-file.js';
import type { Announcement } from '../local/stack-file.js';
import { demoUsage, parseDemoOptions } from './demo/options.js';
import type { DemoOptions } from './demo/options.js';
import { runDemo } from './demo/run-demo.js';
import { createStackLog } from './demo/stack-log.js';
import type { StackLog } from './demo/stack-log.js';
import { CommandError, UsageError } from './errors.js';
import { sendSmallFramesAtOnce } from './small-frames.js';
import { interruptOnEnd } from './terminal/interrupt.js';
import { createScreen } from './terminal/screen.js';

const startedAt = Date.now();
const screen = createScreen(process.stdout, process.env);
const interrupt = interruptOnEnd();

async function main(args: readonly string[]): Promise<number> {
  const options = parseDemoOptions(args);
  if (options === 'help') {
    screen.print(demoUsage);
    return 0;
  }
  sendSmallFramesAtOnce();
  const log = createStackLog();
  try {
    return await withStack(log, (stack) => perform(options, stack));
  } catch (error) {
    if (interrupt.signal.aborted && !(interrupt.signal.reason instanceof PartEndedError)) return 130;
    for (const line of log.lastLines()) console.error(line);
    throw interrupt.signal.aborted ? interrupt.signal.reason : error;
  }
}

class PartEndedError extends CommandError {}

async function withStack(log: StackLog, use: (stack: Stack) => Promise<number>): Promise<number> {
  screen.print('Starting Service Bus, Cosmos DB and the function app …');
  const stack = await startStack({
    log: log.add,
    onUnexpectedEnd: (part, { reason }) => {
      interrupt.abort(new PartEndedError(`${part} ended unexpectedly (${reason}).`));
    },
  });
  try {
    screen.print(`They run after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
    screen.print();
    return await use(stack);
  } finally {
    if (interrupt.signal.aborted) screen.print('Stopping …');
    await stack.stop();
  }
}

async function perform(options: DemoOptions, stack: Stack): Promise<number> {
  const isAsExpected = await runDemo(options, { stack, screen, signal: interrupt.signal, startedAt });
  if (options.keep) await stayUp(stack);
  return isAsExpected ? 0 : 1;
}

async function stayUp(stack: Stack): Promise<void> {
  const { connectionString, cosmosEndpoint, cosmosKey, hostUrl, hostKey, dataDirectory } = stack;
  screen.print(`
The stack stays up; Ctrl-C stops it and removes its data.

  Service Bus     ${connectionString}
  Cosmos DB       ${cosmosEndpoint}
  function app    ${hostUrl}
`);
  const addresses = { connectionString, cosmosEndpoint, cosmosKey, hostUrl, hostKey, dataDirectory };
  const withdraw = announceStack(findProjectRoot(), addresses, (announcement) => {
    screen.print(nextSteps(announcement));
  });
  try {
    if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort');
    if (interrupt.signal.reason instanceof PartEndedError) throw interrupt.signal.reason;
  } finally {
    withdraw();
  }
}

const nextCommands = `Try in another terminal:

  npm run cli -- show agent-dies
  npm run cli -- send --payment-token tok_declined --wait
  npm run cli -- dead-letters orders
  npm run cli -- watch`;

function nextSteps(announcement: Announcement): string {
  switch (announcement.kind) {
    case 'announced':
      return nextCommands;
    case 'otherRuns':
      return `npm run cli uses another local stack, which was there before (process ${announcement.other.pid}).`;
    case 'impossible':
      return `npm run cli cannot find this stack: ${announcement.reason}`;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isForeseen = error instanceof CommandError || error instanceof UsageError;
  console.error(isForeseen ? error.message : error);
  if (error instanceof UsageError) console.error(`\n${demoUsage}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
