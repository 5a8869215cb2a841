/** What a command of this command line is: how it is called, and what it does. */
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import type { Endpoints } from './endpoints.js';
import { UsageError } from './errors.js';
import type { Screen } from './terminal/screen.js';

/** What every command works with. */
export interface CommandContext {
  readonly screen: Screen;
  readonly endpoints: Endpoints;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The options of a command as they were given; one that is absent is undefined. */
export interface GivenOptions {
  text(name: string): string | undefined;
  flag(name: string): boolean;
  /** A whole number from `min` to `max`. */
  count(name: string, range: { readonly min: number; readonly max: number }): number | undefined;
}

/** The arguments of one call. */
export interface CommandArguments {
  readonly positionals: readonly string[];
  readonly options: GivenOptions;
}

/** A command. */
export interface Command {
  readonly summary: string;
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** How many arguments it takes beside its options. */
  readonly positionals: { readonly min: number; readonly max: number };
  /** Answers the exit code. */
  run(args: CommandArguments, context: CommandContext): Promise<number>;
}

/**
 * Reads the arguments of a command.
 *
 * @throws UsageError on an unknown option, a wrong value or a wrong number of arguments
 */
export function parseCommandArguments(
  command: Pick<Command, 'options' | 'positionals'>,
  args: readonly string[],
): CommandArguments {
  const { values, positionals } = parseStrictly(command, args);
  const { min, max } = command.positionals;
  if (positionals.length < min) throw new UsageError('An argument is missing.');
  if (positionals.length > max) throw new UsageError(`Unexpected argument: ${positionals[max] ?? ''}`);
  return { positionals, options: givenOptions(values) };
}

type Values = Readonly<Record<string, unknown>>;

function parseStrictly({ options }: Pick<Command, 'options'>, args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
    return { values: parsed.values as Values, positionals: parsed.positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.split('. To specify')[0] ?? message, { cause: error });
  }
}

function givenOptions(values: Values): GivenOptions {
  const text = (name: string): string | undefined => {
    const value = values[name];
    if (value === '') throw new UsageError(`--${name} is empty.`);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text,
    flag: (name) => values[name] === true,
    count(name, { min, max }) {
      const value = text(name);
      if (value === undefined) return undefined;
      const isInRange = /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max;
      if (!isInRange) throw new UsageError(`--${name} is "${value}" and must be a whole number from ${min} to ${max}.`);
      return Number(value);
    },
  };
}
