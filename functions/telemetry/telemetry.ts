import type { InvocationContext } from '@azure/functions';
import type { Telemetry } from '../state/ports.js';

/** Telemetry over an invocation's log: one JSON object a line, which Log Analytics parses with `parse_json(message)`. */
export function createTelemetry(context: Pick<InvocationContext, 'info' | 'error'> | typeof processLog): Telemetry {
  return {
    event: (event, fields) => {
      context.info(JSON.stringify({ event, ...fields }));
    },
    alert: (alert, fields) => {
      context.error(JSON.stringify({ alert, ...fields }));
    },
  };
}

/** A log for what happens outside of any invocation: the host logs the lines that the process writes. */
export const processLog = {
  info: (line: string): void => void process.stdout.write(`${line}\n`),
  error: (line: string): void => void process.stderr.write(`${line}\n`),
};
