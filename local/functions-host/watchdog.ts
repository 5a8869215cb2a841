/**
 * Says so when the app blocks the event loop: then no trigger, timer or request of this host goes on. The main thread
 * cannot say it itself while it is blocked, so a thread watches its heartbeat and writes to the standard error stream.
 */
import { Worker } from 'node:worker_threads';

/** A watch over the event loop. */
export interface Watchdog {
  close(): Promise<void>;
}

const blockedMsByDefault = 5000;

/** Plain JavaScript: it runs as it stands in the thread. */
const program = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const beats = new Int32Array(workerData.buffer);
let last = -1;
let since = Date.now();
let isReported = false;
setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat !== last) {
    last = beat;
    since = Date.now();
    isReported = false;
  } else if (!isReported && Date.now() - since > workerData.blockedMs) {
    isReported = true;
    writeSync(2, 'fail: A function of the app blocks the event loop for more than ' + workerData.blockedMs +
      ' ms: all triggers and requests of this host wait for it. Look for a loop without await, or for synchronous I/O.\\n');
  }
}, workerData.heartbeatMs);
`;

/** Starts the watch; it speaks once the loop has stood still for so long. */
export function startWatchdog(blockedMs = blockedMsByDefault): Watchdog {
  const heartbeatMs = blockedMs / 10;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(program, { eval: true, workerData: { buffer: beats.buffer, heartbeatMs, blockedMs } });
  worker.unref();
  const heartbeat = setInterval(() => {
    Atomics.add(beats, 0, 1);
  }, heartbeatMs);
  heartbeat.unref();
  return {
    async close() {
      clearInterval(heartbeat);
      await worker.terminate();
    },
  };
}
