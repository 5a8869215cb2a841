/** `npm run verify-agent`: see `verifyUsage` in options.ts. */
import { findProjectRoot } from '../../local/project.js';
import { sendSmallFramesAtOnce } from '../small-frames.js';
import { interruptOnEnd } from '../terminal/interrupt.js';
import { createScreen } from '../terminal/screen.js';
import { verifyAgent } from './verify.js';

const interrupt = interruptOnEnd();
sendSmallFramesAtOnce();

process.exitCode = await verifyAgent(process.argv.slice(2), {
  root: findProjectRoot(),
  screen: createScreen(process.stdout, process.env),
  signal: interrupt.signal,
  printError: (text) => {
    console.error(text);
  },
});
