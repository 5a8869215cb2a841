/** Child process of the tests of the Functions host: starts one and obeys its parent. */
import { startFunctionsHost, type FunctionsHost, type FunctionsHostOptions } from '../../local/functions-host/index.js';
import type { FaultPlan } from '../../local/faults/index.js';

/** What the parent may ask. */
export type HostCommand =
  | { readonly kind: 'counters' }
  | { readonly kind: 'setFaults'; readonly plan: FaultPlan | undefined }
  | { readonly kind: 'close' };

/** What the child tells. */
export type HostReport =
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'started'; readonly url: string; readonly keys: FunctionsHost['keys'] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'answer'; readonly value: unknown };

const report = (message: HostReport): void => {
  process.send?.(message);
};

async function obey(host: FunctionsHost, command: HostCommand): Promise<unknown> {
  switch (command.kind) {
    case 'counters':
      return host.counters();
    case 'setFaults':
      host.setFaults(command.plan);
      return undefined;
    case 'close':
      await host.close();
      return undefined;
  }
}

try {
  const options = JSON.parse(process.argv[2] ?? '{}') as FunctionsHostOptions;
  const host = await startFunctionsHost({
    ...options,
    log: (line) => {
      report({ kind: 'log', line });
    },
  });
  process.on('message', (command: HostCommand) => {
    void obey(host, command).then((value) => {
      report({ kind: 'answer', value });
      if (command.kind === 'close') process.disconnect();
    });
  });
  report({ kind: 'started', url: host.url, keys: host.keys });
} catch (error) {
  report({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
