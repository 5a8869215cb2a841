import { runCli } from '../../cli/cli.js';
import type { Endpoints } from '../../cli/endpoints.js';
import { createScreen } from '../../cli/terminal/screen.js';

/** What a call of the command line left. */
export interface CliRun {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** Calls the command line as a pipe would see it. */
export async function callCli(
  args: readonly string[],
  endpoints: Endpoints,
  signal: AbortSignal = new AbortController().signal,
): Promise<CliRun> {
  const written: string[] = [];
  const errors: string[] = [];
  const screen = createScreen({ write: (text) => written.push(text) }, {});
  const exitCode = await runCli(args, { screen, endpoints, signal }, (text) => errors.push(text));
  return { exitCode, output: written.join(''), errors: errors.join('\n') };
}
