/**
 * The Node worker: a thread that loads the app and runs its functions when the host calls them. It holds all state of the
 * app's modules; when it ends, that state is gone and the host starts another one.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { MessageFromWorker, MessageToWorker, WorkerData } from '../worker-messages.js';
import { loadWorkerApp, type WorkerApp } from './worker-app.js';

const heartbeatMs = 250;
const { appDirectory, beats } = workerData as WorkerData;

function send(message: MessageFromWorker): void {
  parentPort?.postMessage(message);
}

async function obey(app: WorkerApp, message: MessageToWorker): Promise<void> {
  if (message.kind === 'call') {
    send({ ...(await app.run(message.call)), id: message.id });
  } else {
    await app.terminate();
    process.exit(0);
  }
}

setInterval(() => {
  Atomics.add(new Int32Array(beats), 0, 1);
}, heartbeatMs).unref();

try {
  const app = await loadWorkerApp(appDirectory, send);
  parentPort?.on('message', (message: MessageToWorker) => {
    void obey(app, message);
  });
  send({ kind: 'loaded', functions: app.functions });
} catch (error) {
  send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
}
