/** Starts a part again that died, as Azure would; a part that keeps dying, or that gave up itself, is given up. */
import type { PartEnd } from './part-process.js';
import type { PartName } from './part-protocol.js';

/** What keeping parts running needs. */
export interface KeepRunningOptions {
  readonly restart: (part: PartName) => Promise<void>;
  readonly report: (line: string) => void;
  /** Called once a part can't be kept running. */
  readonly giveUp: (error: Error) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

const endsAtMost = 3;
const withinMs = 60_000;

/** Answers what to call when a part ended unexpectedly: it restarts it, unless it ended too often within a minute. */
export function keepRunning({
  restart,
  report,
  giveUp,
  now,
}: KeepRunningOptions): (part: PartName, end: PartEnd) => void {
  const ends = new Map<PartName, readonly number[]>();
  return (part, { reason, isBroken }) => {
    if (isBroken) {
      giveUp(new Error(`${part} has given up. ${reason}`));
      return;
    }
    const recent = [...(ends.get(part) ?? []), now()].filter((at) => at > now() - withinMs);
    ends.set(part, recent);
    if (recent.length > endsAtMost) {
      giveUp(new Error(`${part} ended unexpectedly (${reason}), ${recent.length} times within a minute.`));
      return;
    }
    report(`${part} ended unexpectedly (${reason}). Starting it again …`);
    restart(part).then(
      () => {
        report(`${part} runs again.`);
      },
      (error: unknown) => {
        giveUp(new Error(`${part} can’t be started again: ${error instanceof Error ? error.message : String(error)}`));
      },
    );
  };
}
