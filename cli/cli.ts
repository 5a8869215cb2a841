/** The command line: which command is meant, what it is given, and how its failures are told. */
import { parseCommandArguments } from './command.js';
import type { Command, CommandContext } from './command.js';
import { deadLetters } from './commands/dead-letters.js';
import { intake, operatorCommand } from './commands/operate.js';
import { send } from './commands/send.js';
import { show } from './commands/show.js';
import { watch } from './commands/watch.js';
import { environmentHelp } from './endpoints.js';
import { UsageError } from './errors.js';
import { explain } from './explain.js';

const commands: Readonly<Record<string, Command>> = {
  send,
  watch,
  show,
  resubmit: operatorCommand({
    verb: 'resubmit',
    summary: 'let an order in Error try again; what it has completed stays',
  }),
  compensate: operatorCommand({ verb: 'compensate', summary: 'undo what an order in Error has done' }),
  'retry-undo': operatorCommand({
    verb: 'retry-undo',
    summary: 'try the failed undo of a step again',
    isAboutStep: true,
  }),
  'skip-undo': operatorCommand({
    verb: 'skip-undo',
    summary: 'take a failed undo for done by hand',
    isAboutStep: true,
  }),
  abandon: operatorCommand({ verb: 'abandon', summary: 'give an order up for good' }),
  intake,
  'dead-letters': deadLetters,
};

const exitCodes = { failed: 1, wrongUsage: 2, interrupted: 130 } as const;

/** Runs one command; answers the exit code. Errors go to `printError`. */
export async function runCli(
  args: readonly string[],
  context: CommandContext,
  printError: (text: string) => void,
): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const wantsHelp = [name, ...rest].some((arg) => arg === '--help' || arg === '-h') || name === 'help';
  if (wantsHelp || name === '') {
    context.screen.print(command === undefined ? usage() : usageOf(command));
    return name === '' ? exitCodes.wrongUsage : 0;
  }
  if (command === undefined) {
    printError(`Unknown command: ${name}\n\n${usage()}`);
    return exitCodes.wrongUsage;
  }
  try {
    return await command.run(parseCommandArguments(command, rest), context);
  } catch (error) {
    return tell(error, command, { signal: context.signal, printError });
  }
}

function tell(
  error: unknown,
  command: Command,
  { signal, printError }: { readonly signal: AbortSignal; readonly printError: (text: string) => void },
): number {
  if (signal.aborted) return exitCodes.interrupted;
  if (error instanceof UsageError) {
    printError(`${error.message}\n\n${usageOf(command)}`);
    return exitCodes.wrongUsage;
  }
  printError(explain(error));
  return exitCodes.failed;
}

function usage(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 3;
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
  return [
    'Usage: npm run cli -- <command> [options]',
    '',
    ...list,
    '',
    'npm run cli -- <command> --help shows its options.',
    environmentHelp,
  ].join('\n');
}

function usageOf({ usage: text }: Command): string {
  return `Usage: npm run cli -- ${text}`;
}
