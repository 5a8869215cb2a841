/** Runs the verification from its door, against sample agents on a broker that all of them share. */
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { sendSmallFramesAtOnce } from '../../cli/small-frames.js';
import { createScreen } from '../../cli/terminal/screen.js';
import { verifyAgent } from '../../cli/verify-agent/verify.js';
import { findProjectRoot } from '../../local/project.js';
import { startBroker } from '../../local/service-bus/index.js';
import { goodParts, startSampleAgent } from './verify-agent-sample.js';
import type { SampleEntry, SampleParts } from './verify-agent-sample.js';

/** What a run left. */
export interface Verification {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** … and how many requests each instance of the agent has served. */
export interface BenchVerification extends Verification {
  readonly served: readonly number[];
}

/** Calls the verification as a pipe would see it. */
export async function callVerifyAgent(args: readonly string[]): Promise<Verification> {
  const written: string[] = [];
  const errors: string[] = [];
  const exitCode = await verifyAgent(args, {
    root: findProjectRoot(),
    screen: createScreen({ write: (text) => written.push(text) }, {}),
    signal: new AbortController().signal,
    printError: (text) => errors.push(text),
  });
  return { exitCode, output: written.join(''), errors: errors.join('\n') };
}

/** What a run is given. */
export interface BenchRun {
  readonly parts?: Partial<SampleParts>;
  readonly options?: readonly string[];
  readonly payloads?: object;
  readonly withLedger?: boolean;
  /** What somebody else does with the reply queue meanwhile. */
  readonly beside?: (client: ServiceBusClient, replyQueue: string) => Promise<void>;
  /** Instances of the agent behind the one pair of queues. */
  readonly instances?: number;
}

/** A place for many verifications at once. */
export interface VerifyBench {
  readonly connectionString: string;
  verify(run: BenchRun): Promise<BenchVerification>;
  close(): Promise<void>;
}

const allPayloads = {
  success: {},
  refusal: { behave: 'refused' },
  failure: { behave: 'failed' },
  unknown: { behave: 'unknown' },
};

/** Starts a broker with queues for so many agents. */
export async function startVerifyBench(agents: number): Promise<VerifyBench> {
  sendSmallFramesAtOnce();
  const directory = await mkdtemp(join(tmpdir(), 'verify-agent-'));
  const names = Array.from({ length: agents }, (_, index) => `agent-${index}`);
  const broker = await startBroker({
    dataDirectory: join(directory, 'broker'),
    fsync: 'never',
    topology: { serviceBus: { queues: names.flatMap(queuesOf) } },
  });
  const client = new ServiceBusClient(broker.connectionString);
  return {
    connectionString: broker.connectionString,
    async verify({ parts = {}, options = [], payloads = allPayloads, withLedger = false, instances = 1, beside }) {
      const name = names.pop();
      if (name === undefined) throw new Error('There are no queues left; start the bench with more.');
      const queues = { requests: `${name}-requests`, replies: `${name}-replies` };
      const entries = new Map<string, SampleEntry>();
      const running = Array.from({ length: instances }, () =>
        startSampleAgent(client, queues, { ...goodParts, ...parts }, entries),
      );
      const ledger = await serveLedger(entries);
      const payloadFile = join(directory, `${name}.json`);
      await writeFile(payloadFile, JSON.stringify(payloads));
      const place = ['--service-bus', broker.connectionString, '--agent', name, '--step', 'sample'];
      const patience = ['--timeout-ms', '4000', '--quiet-ms', '150'];
      const counting = withLedger ? ['--ledger-url', ledger.url] : [];
      const args = [...place, ...patience, '--payload', payloadFile, ...counting, ...options];
      const [verification] = await Promise.all([callVerifyAgent(args), beside?.(client, queues.replies)]);
      await Promise.all([...running, ledger].map((each) => each.close()));
      return { ...verification, served: running.map((agent) => agent.served()) };
    },
    async close() {
      await client.close();
      await broker.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function queuesOf(name: string): readonly object[] {
  const deadLetters = `${name}-requests-dead-letter`;
  return [
    {
      name: `${name}-requests`,
      maxDeliveryCount: 2,
      requiresDuplicateDetection: true,
      forwardDeadLetteredMessagesTo: deadLetters,
    },
    { name: `${name}-replies`, requiresDuplicateDetection: true },
    { name: deadLetters },
  ];
}

/** The ledger of a sample agent over HTTP, in the form of the demo's. */
async function serveLedger(
  entries: ReadonlyMap<string, SampleEntry>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(({ url = '' }, response) => {
    const entry = entries.get(url.slice(1));
    response.end(JSON.stringify(entry === undefined ? [] : [ledgerEntry(entry)]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function ledgerEntry({ effects, undone }: SampleEntry): object {
  const [first, ...furtherKeys] = effects.keys();
  const effect = first === undefined ? null : { key: first };
  return { service: 'sample', effect, undo: undone ? { key: 'undo' } : null, furtherKeys };
}
