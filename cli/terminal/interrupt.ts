/**
 * Ends what runs on Ctrl-C, on SIGTERM, and when nobody reads the output any more (`npm run cli -- watch | head`).
 * A second Ctrl-C ends the process at once.
 */
export function interruptOnEnd(): AbortController {
  const interrupt = new AbortController();
  const end = (): void => {
    interrupt.abort();
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  process.stdout.on('error', end);
  return interrupt;
}
