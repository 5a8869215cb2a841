/** What the host prints: one line an invocation, the app's own log lines, and errors with the app's stack. */
import type { LogLevel } from './core-api.js';

/** The host's side of the terminal. */
export interface Console {
  line(text: string): void;
  warning(text: string): void;
  error(text: string): void;
  functionLog(level: LogLevel, message: string, functionName: string): void;
  /** Prints the start of an invocation and gives the function that prints its end. */
  invocationStarted(
    functionName: string,
    invocationId: string,
    reason?: string,
  ): (outcome: 'Succeeded' | 'Failed', error?: unknown) => void;
}

/** What the durable-functions library puts before its answer in the error of a failed orchestrator. */
export const answerLabel = '\n\n$OutOfProcData$:';
const frameOfApp = /^\s+at /;
const frameOfPlatform = /node:internal|[\\/]node_modules[\\/](@azure[\\/]functions|durable-functions)[\\/]/;
const ownDirectory = new URL('.', import.meta.url).href;

/** Creates the console over a function that takes lines; without one nothing is formatted. */
export function createConsole(write?: (line: string) => void): Console {
  if (write === undefined) return silentConsole;
  const print = (text: string): void => {
    write(`[${new Date().toISOString()}] ${text}`);
  };
  return {
    line: print,
    warning: (text) => {
      print(`warn: ${text}`);
    },
    error: (text) => {
      print(`fail: ${text}`);
    },
    functionLog: (level, message, functionName) => {
      if (level === 'none') return;
      print(level === 'information' ? message : `${level}: ${message} (Functions.${functionName})`);
    },
    invocationStarted: (functionName, invocationId, reason) => {
      const started = performance.now();
      const because = reason === undefined ? '' : `Reason='${reason}', `;
      print(`Executing 'Functions.${functionName}' (${because}Id=${invocationId})`);
      return (outcome, error) => {
        const duration = Math.round(performance.now() - started);
        print(`Executed 'Functions.${functionName}' (${outcome}, Id=${invocationId}, Duration=${duration}ms)`);
        if (outcome === 'Failed') print(`fail: ${describeError(error)}`);
      };
    },
  };
}

/** The error's text with the frames of the app's own code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frames = (error.stack ?? '').split('\n').filter(isOfApp);
  return [`${error.name}: ${messageOf(error)}`, ...frames].join('\n');
}

function isOfApp(line: string): boolean {
  return frameOfApp.test(line) && !frameOfPlatform.test(line) && !line.includes(ownDirectory);
}

/** An orchestrator's error carries the library's whole answer; its text is in there. */
function messageOf({ message }: Error): string {
  const label = message.indexOf(answerLabel);
  if (label < 0) return message;
  const answer = JSON.parse(message.slice(label + answerLabel.length)) as { readonly error?: string };
  return answer.error ?? '';
}

const nothing = (): void => undefined;
const silentConsole: Console = {
  line: nothing,
  warning: nothing,
  error: nothing,
  functionLog: nothing,
  invocationStarted: () => nothing,
};
