/** Child process of a test: kills the Node worker under a call, and calls it before and after the host notices. */
import { createConsole } from '../../local/functions-host/console.js';
import { createCounters } from '../../local/functions-host/counters.js';
import { NodeWorker } from '../../local/functions-host/node-worker.js';

let beforeTheHostHasNoticed: Promise<string> | undefined;

const worker = await NodeWorker.start({
  appDirectory: process.argv[2] ?? '',
  variables: process.env,
  console: createConsole((line) => {
    if (line.includes('Language Worker Process exited')) beforeTheHostHasNoticed = outcome('returns');
  }),
  counters: createCounters(),
});

async function outcome(functionName: string): Promise<string> {
  const { bindings = {} } = worker.functions.find(({ name }) => name === functionName) ?? {};
  const inputs = Object.keys(bindings).map((name) => ({ name, data: { json: '{}' } }));
  const call = { functionName, invocationId: functionName, inputs, triggerMetadata: null, traceParent: undefined };
  try {
    await worker.call(call);
    return 'returned';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const hanging = outcome('hangs');
worker.kill().catch(() => undefined);
const running = await hanging;
const missed = await beforeTheHostHasNoticed;
const afterwards = await outcome('returns');
process.stdout.write(JSON.stringify({ running, missed, afterwards }));
await worker.close();
