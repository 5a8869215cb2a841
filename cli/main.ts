/** `npm run cli -- <command>`: see `usage` in cli.ts. */
import { findProjectRoot } from '../local/project.js';
import { readLiveStackFile } from '../local/stack-file.js';
import { runCli } from './cli.js';
import { findEndpoints } from './endpoints.js';
import { sendSmallFramesAtOnce } from './small-frames.js';
import { interruptOnEnd } from './terminal/interrupt.js';
import { createScreen } from './terminal/screen.js';

const interrupt = interruptOnEnd();
sendSmallFramesAtOnce();

process.exitCode = await runCli(
  process.argv.slice(2),
  {
    screen: createScreen(process.stdout, process.env),
    endpoints: findEndpoints({
      environment: process.env,
      findStack: () => readLiveStackFile(findProjectRoot()),
    }),
    signal: interrupt.signal,
  },
  (text) => {
    console.error(text);
  },
);
