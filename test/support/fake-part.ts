/** A part that behaves as its options say, for tests of the processes around it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createFaults, type FaultPlan } from '../../local/faults/index.js';
import { runPart } from '../../local/part-runner.js';

interface FakeOptions {
  readonly port: number;
  readonly faults?: FaultPlan;
  readonly onStart?: 'throw' | 'exit';
  readonly onClose?: 'throw' | 'hang';
  /** Gives up when it is asked for its counters. */
  readonly givesUp?: boolean;
}

await runPart(async (value, giveUp) => {
  const { port, faults: plan, onStart, onClose, givesUp } = value as FakeOptions;
  process.stdout.write(`started with ${JSON.stringify(value)}\n`);
  if (onStart === 'throw') throw new Error('bad data');
  if (onStart === 'exit') process.exit(7);
  const faults = createFaults(plan);
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    info: { port, name: process.argv[2], secret: process.env['SECRET'] },
    counters: () => {
      if (givesUp === true) giveUp(new Error('The disk is full.'));
      return faults.counters();
    },
    setFaults: (next) => {
      faults.replace(next);
    },
    close: async () => {
      process.stdout.write('closing\n');
      if (onClose === 'throw') throw new Error('close failed');
      if (onClose === 'hang') await new Promise(() => undefined);
      server.close();
    },
  };
}, process.argv[3]);
