/**
 * The child's side of a part: takes its options, starts it, answers the stack's requests, and closes it when asked,
 * signalled, or when the stack is gone.
 */
import { once } from 'node:events';
import { parseFaultPlan, type FaultPlan } from './faults/index.js';
import type { Counters, MessageFromPart, MessageToPart, PartRequest } from './part-protocol.js';

const closeLimitMs = 8_000;

/** A part that runs in this process. */
export interface RunningPart {
  /** What the stack, or a person on a terminal, needs to use it. */
  readonly info: object;
  readonly counters: () => Counters;
  readonly setFaults: (plan: FaultPlan | undefined) => void;
  readonly close: () => Promise<void>;
}

/** Starts a part; `giveUp` ends the process of a part that can do nothing more. */
export type StartPart = (options: unknown, giveUp: (error: Error) => void) => Promise<RunningPart>;

/** Runs the part until it is stopped. Without IPC the options are the JSON text `argument`. */
export async function runPart(start: StartPart, argument: string | undefined): Promise<void> {
  const hasStack = process.connected;
  try {
    const options = hasStack ? await receiveOptions() : parseOptions(argument);
    checkFaults(options);
    const part = closingOnce(await start(options, giveUp));
    obey(part);
    if (hasStack && !process.connected)
      exitAfterClose(part); // The stack went away during the start.
    else if (hasStack) await send({ kind: 'ready', info: part.info });
    else process.stdout.write(`${JSON.stringify(part.info)}\n`);
  } catch (error) {
    await reportFailure(error);
    process.exit(1);
  }
}

/** Ends the process: whoever uses the part sees at once that it is gone, not one failed request after the other. */
function giveUp(error: Error): void {
  if (!process.connected) process.stderr.write(`${error.message}\n`);
  void send({ kind: 'broken', message: error.message }).then(() => process.exit(1));
}

function checkFaults(options: unknown): void {
  const hasFaults = typeof options === 'object' && options !== null && 'faults' in options;
  if (hasFaults && options.faults !== undefined) parseFaultPlan(options.faults);
}

function obey(part: RunningPart): void {
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) {
    process.once(event, () => {
      exitAfterClose(part);
    });
  }
  process.on('message', (message: MessageToPart) => {
    if (message.kind === 'request') void answer(part, message.id, message.request);
  });
}

function closingOnce(part: RunningPart): RunningPart {
  let closed: Promise<void> | undefined;
  return { ...part, close: () => (closed ??= part.close()) };
}

async function receiveOptions(): Promise<unknown> {
  const [message] = (await once(process, 'message')) as [MessageToPart];
  if (message.kind !== 'start') throw new Error(`The first message to a part is 'start', not '${message.kind}'.`);
  return message.options;
}

function parseOptions(argument: string | undefined): unknown {
  if (argument === undefined) throw new Error('Pass the options of the part as JSON, for example \'{"port":5672}\'.');
  return JSON.parse(argument);
}

function exitAfterClose(part: RunningPart): void {
  setTimeout(() => process.exit(1), closeLimitMs).unref();
  part.close().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`The part did not close cleanly: ${String(error)}\n`);
      process.exit(1);
    },
  );
}

async function answer(part: RunningPart, id: number, request: PartRequest): Promise<void> {
  try {
    await send({ kind: 'answer', id, value: await carryOut(part, request) });
    if (request.verb === 'stop') process.exit(0);
  } catch (error) {
    await send({ kind: 'refusal', id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function carryOut(part: RunningPart, request: PartRequest): Promise<unknown> {
  switch (request.verb) {
    case 'counters':
      return part.counters();
    case 'faults':
      part.setFaults(request.plan === undefined ? undefined : parseFaultPlan(request.plan));
      return undefined;
    case 'stop':
      await part.close();
      return undefined;
  }
}

async function reportFailure(error: unknown): Promise<void> {
  if (!process.connected) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  await send({ kind: 'failed', message, portIsTaken: message.includes('EADDRINUSE') });
}

/** Resolves when the message is on its way; a stack that has gone is no failure of the part. */
function send(message: MessageFromPart): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else
      process.send(message, () => {
        resolve();
      });
  });
}
