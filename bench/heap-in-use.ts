/**
 * Heap that another Node.js process really needs: what is in use right after a garbage collection, which the inspector of
 * that process is asked for. Resident memory would also count what the collector has not bothered to free yet.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const inspectorUrl = 'http://127.0.0.1:9229/json/list';
const attempts = 100;

/** Mebibytes in use after a collection. One process after the other: they would all open their inspector on one port. */
export async function heapInUseMiB(pid: number): Promise<number> {
  // The documented way, SIGUSR1, does not exist on Windows.
  (process as unknown as { _debugProcess(pid: number): void })._debugProcess(pid);
  const socket = new WebSocket(await findInspector());
  await once(socket, 'open');
  try {
    await call(socket, 1, 'HeapProfiler.collectGarbage');
    const usage = await call(socket, 2, 'Runtime.getHeapUsage');
    return (usage as { readonly usedSize: number }).usedSize / 2 ** 20;
  } finally {
    socket.send(request(3, 'Runtime.evaluate', { expression: 'process._debugEnd()' }));
    await once(socket, 'close');
  }
}

async function findInspector(): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [target] = (await (await fetch(inspectorUrl)).json()) as readonly {
        readonly webSocketDebuggerUrl: string;
      }[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    await delay(50);
  }
}

async function call(socket: WebSocket, id: number, method: string): Promise<unknown> {
  const answered = new Promise<unknown>((resolve) => {
    const listener = ({ data }: MessageEvent): void => {
      const answer = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
      if (answer.id !== id) return;
      socket.removeEventListener('message', listener);
      resolve(answer.result);
    };
    socket.addEventListener('message', listener);
  });
  socket.send(request(id, method));
  return answered;
}

function request(id: number, method: string, params: object = {}): string {
  return JSON.stringify({ id, method, params });
}
