/** Child process of a test: blocks its event loop under the watch of the host's watchdog. */
import { startWatchdog } from '../../local/functions-host/watchdog.js';

const blockedMs = 200;

startWatchdog(blockedMs);
// The thread needs a moment to start, and then the loop has to stand still for longer than allowed.
setTimeout(() => {
  const end = Date.now() + blockedMs * 10;
  while (Date.now() < end);
}, blockedMs);
