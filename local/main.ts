/** `npm run local`: the local stack in the foreground, until Ctrl-C. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { startAzurite, type Azurite } from './azurite.js';
import { useEmulators } from './emulators.js';
import { emptyDirectories } from './journal/index.js';
import { keepRunning } from './keep-running.js';
import { parseMainOptions, usage, UsageError, type MainOptions } from './main-options.js';
import { partNames, type PartName } from './part-protocol.js';
import { isPortFree } from './ports.js';
import { findProjectRoot } from './project.js';
import { startStack, type Stack } from './stack.js';
import { announceStack, stackFilePath, type AnnouncedStack, type Announcement } from './stack-file.js';
import { watchApp } from './watch-app.js';

/** The ports that people expect; one that is taken is replaced by a free one. */
const usualPorts = { 'service-bus': 5672, 'cosmos-db': 8081, 'functions-host': 7071 } as const;

/** Lines of executions that go well; the starter alone would fill the screen with them. */
const routine = /\] Execut(ing 'Functions\.|ed 'Functions\..*\(Succeeded,)/;

async function main(root: string): Promise<void> {
  const options = parseMainOptions(process.argv.slice(2), root);
  if (options === 'help') {
    console.log(usage);
    return;
  }
  if (options.reset) removeData(options.dataDirectory);
  const azurite = options.withHost ? undefined : await startAzurite(root, options.dataDirectory);
  try {
    await runStack(root, options, azurite);
  } finally {
    await azurite?.stop();
  }
}

async function runStack(root: string, options: MainOptions, azurite: Azurite | undefined): Promise<void> {
  const running: { stack?: Stack; withdraw?: () => void } = {};
  const partEnded = keepRunning({
    restart: async (part) => {
      if (running.stack === undefined) throw new Error('the stack was still starting.');
      await running.stack.restart(part);
    },
    report: console.log,
    giveUp: ending.giveUp,
    now: () => performance.now(),
  });
  const stack = await startStack({
    dataDirectory: options.dataDirectory,
    fsync: options.fsync,
    settings: options.settings,
    faults: options.faults,
    host: options.withHost,
    ...(options.emulators ? { external: await useEmulators(root) } : {}),
    ports: await choosePorts(options),
    log: (line) => {
      if (options.verbose || !routine.test(line)) console.log(line);
    },
    onUnexpectedEnd: partEnded,
  });
  running.stack = stack;
  const stopWatching = options.watch ? watchApp(root, hostRestarter(stack)) : undefined;
  try {
    printAddresses(stack, options);
    if (azurite !== undefined) printForCoreTools(root, stack, azurite);
    running.withdraw = announceStack(root, announcedStack(stack), (announcement) => {
      printAnnouncement(root, stack, announcement);
    });
    await ending.whenEnded;
  } finally {
    stopWatching?.();
    console.log('Stopping …');
    running.withdraw?.();
    await stack.stop();
  }
}

/** Restarts the host, one restart at a time; a build that does not start is reported, and the next one is tried. */
function hostRestarter(stack: Stack): () => void {
  let last = Promise.resolve();
  const restart = async (): Promise<void> => {
    console.log('The app was built. Restarting the Functions host …');
    await stack.restart('functions-host');
    console.log('The Functions host runs the new build.');
  };
  return () => {
    last = last.then(restart).catch((error: unknown) => {
      console.log(error instanceof Error ? error.message : error);
    });
  };
}

function announcedStack(stack: Stack): AnnouncedStack {
  const { connectionString, cosmosEndpoint, cosmosKey, hostUrl, hostKey, dataDirectory } = stack;
  return { connectionString, cosmosEndpoint, cosmosKey, hostUrl, hostKey, dataDirectory };
}

/** Resolves on Ctrl-C, SIGTERM, or when nobody reads the output any more; rejects when `giveUp` is called. */
function watchForEnd(): { whenEnded: Promise<void>; giveUp: (error: Error) => void } {
  const events: { giveUp?: (error: Error) => void } = {};
  const whenEnded = new Promise<void>((resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    // A pipe that is read by `head`, for example; without a listener, the error would end the process at once.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', resolve);
    events.giveUp = reject;
  });
  whenEnded.catch(() => undefined); // It may reject before anybody waits: a part can die while the others start.
  return { whenEnded, giveUp: (error) => events.giveUp?.(error) };
}

async function choosePorts({ ports, withHost }: MainOptions): Promise<MainOptions['ports']> {
  const chosen: Partial<Record<PartName, number>> = { ...ports };
  for (const part of partNames) {
    const isNeeded = part !== 'functions-host' || withHost;
    const isOpen = chosen[part] === undefined && isNeeded;
    if (isOpen && (await isPortFree(usualPorts[part]))) chosen[part] = usualPorts[part];
  }
  return chosen;
}

function removeData(dataDirectory: string): void {
  try {
    emptyDirectories([...partNames, 'azurite'].map((part) => join(dataDirectory, part)));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(`--reset has removed nothing. ${problem}`, { cause: error });
  }
}

function printAddresses(stack: Stack, { withHost, emulators }: MainOptions): void {
  const parts = partNames.filter((part) => (part === 'functions-host' ? withHost : !emulators));
  const processes = parts.map((part) => `${part} ${stack.pid(part)}`);
  console.log(`
The local stack is ready; Ctrl-C stops it, its data stays in ${stack.dataDirectory}.

  Service Bus     ${stack.connectionString}
  Cosmos DB       ${stack.cosmosEndpoint}
  key             ${stack.cosmosKey}
  function app    ${stack.hostUrl}
  processes       ${processes.join(', ')}; one that is killed is started again
`);
}

function printCommands(): void {
  console.log(`Try in another terminal:

  npm run cli -- send              send an order
  npm run cli -- watch             follow all orders
  npm run cli -- show <orderId>    look at one
`);
}

function printAnnouncement(root: string, stack: Stack, announcement: Announcement): void {
  switch (announcement.kind) {
    case 'announced':
      printCommands();
      return;
    case 'otherRuns': {
      const { pid, hostUrl } = announcement.other;
      console.log(`Another stack runs already (process ${pid}, ${hostUrl}), and the command line goes on talking to that one.
When it ends, the command line talks to this one. If it is none, remove ${stackFilePath(root)}.
`);
      return;
    }
    case 'impossible':
      console.log(`The command line cannot find this stack by itself: ${announcement.reason}
Tell it where the stack is:

  export ORDERS_SERVICE_BUS='${stack.connectionString}'
  export ORDERS_APP_URL=${stack.hostUrl} ORDERS_APP_KEY=${stack.hostKey ?? ''}
`);
  }
}

function printForCoreTools(root: string, stack: Stack, azurite: Azurite): void {
  const path = join(root, '.local', 'local.settings.json');
  const { port } = new URL(stack.hostUrl);
  console.log(`Azurite ${azurite.isForeign ? 'was running already and is used' : 'runs'} on ports 10000 to 10002.
The function app is not started yet. Start it with Core Tools:

  ${writeCoreToolsSettings(path, stack.settings)}
  func start --port ${port}
`);
}

/** Returns what to do with the settings. */
function writeCoreToolsSettings(path: string, settings: Stack['settings']): string {
  // Core Tools sets the host name itself.
  const values = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'WEBSITE_HOSTNAME'));
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify({ IsEncrypted: false, Values: values }, null, 2)}\n`, { mode: 0o600 });
    return `cp ${relative(process.cwd(), path)} local.settings.json`;
  } catch (error) {
    return `# The settings could not be written (${String(error)}); adapt those of local.settings.sample.json.`;
  }
}

const root = findProjectRoot();
const ending = watchForEnd();
try {
  await main(root);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
