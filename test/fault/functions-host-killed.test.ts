import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  startHostProcess,
  temporaryDirectory,
  type HostAnswer,
  type HostProcess,
  type InstanceStatus,
} from '../support/functions-host-process.js';

interface Kind {
  readonly name: string;
  readonly input: unknown;
  readonly event?: string;
  readonly output: (instanceId: string) => unknown;
}

const kinds: readonly Kind[] = [
  { name: 'three-activities', input: {}, output: () => ['Hello, Tokyo!', 'Hello, Seattle!', 'Hello, London!'] },
  {
    name: 'race',
    input: { timeoutMs: 3_600_000 },
    event: 'reply',
    output: () => ({ kind: 'replied', reply: { ok: true } }),
  },
  { name: 'race', input: { timeoutMs: 30 }, output: () => ({ kind: 'timedOut' }) },
  { name: 'fan-out', input: { numbers: [1, 2, 3] }, output: () => [2, 4, 6] },
  { name: 'parent', input: { fails: false }, output: (instanceId) => ({ child: { parent: instanceId } }) },
  { name: 'rounds', input: { round: 1, until: 5 }, output: () => ({ round: 5 }) },
];
/** A start and the first wave print at least a hundred lines; how many more depends on how results share turns. */
const linesUntilKills = fc.array(fc.integer({ min: 30, max: 85 }), { minLength: 8, maxLength: 8 });

interface Instance {
  readonly kind: Kind;
  readonly instanceId: string;
}

/** A host that is killed again and again on the same data. */
class MortalHost {
  readonly #dataDirectory = temporaryDirectory();
  #current: Promise<HostProcess>;

  constructor() {
    this.#current = this.#start();
  }

  /** Kills the host once it has printed so many lines, and starts the next. */
  async killAfter(lines: number): Promise<void> {
    const host = await this.#current;
    await host.linesReach(lines);
    await host.kill();
    this.#current = this.#start();
    await this.#current;
  }

  /** Repeats a call until a living host answers it as wanted. */
  async insist(call: (host: HostProcess) => Promise<HostAnswer>, wanted: readonly number[]): Promise<HostAnswer> {
    for (;;) {
      const host = await this.#current;
      const answer = await call(host).catch(() => undefined);
      if (answer !== undefined && wanted.includes(answer.status)) return answer;
      if (answer !== undefined) throw new Error(`The host answered ${answer.status}: ${answer.text}`);
    }
  }

  async status(instanceId: string): Promise<InstanceStatus> {
    for (;;) {
      const host = await this.#current;
      const status = await host.status(instanceId).catch(() => undefined);
      if (status !== undefined) return status;
    }
  }

  #start(): Promise<HostProcess> {
    return startHostProcess('durable-app', { dataDirectory: this.#dataDirectory });
  }
}

function endedTasks({ historyEvents = [] }: InstanceStatus): number[] {
  return historyEvents.flatMap(({ TaskScheduledId, TimerId }) =>
    [TaskScheduledId, TimerId].filter((id) => id !== undefined),
  );
}

it('finishes every orchestration with each result applied once, however often its host is killed', async () => {
  const host = new MortalHost();
  const drive = async ({ kind, instanceId }: Instance): Promise<void> => {
    await host.insist((living) => living.start(kind.name, instanceId, kind.input), [202, 409]);
    const { event } = kind;
    if (event === undefined) return;
    await host.insist((living) => living.raiseEvent(instanceId, event, { ok: true }), [202, 410]);
  };
  const [moments = []] = fc.sample(linesUntilKills, { seed: 4711, numRuns: 1 });
  const instances: Instance[] = [];
  const drives: Promise<void>[] = [];
  for (const [wave, lines] of moments.entries()) {
    const started = kinds.map((kind, index) => ({ kind, instanceId: `${kind.name}-${index}-${wave}` }));
    instances.push(...started);
    drives.push(...started.map(drive));
    await host.killAfter(lines);
  }
  await Promise.all(drives);

  for (const { kind, instanceId } of instances) {
    const status = await host.status(instanceId);
    expect(status, instanceId).toMatchObject({ runtimeStatus: 'Completed', output: kind.output(instanceId) });
    const ended = endedTasks(status);
    expect(new Set(ended).size, instanceId).toBe(ended.length);
  }
}, 60_000);
