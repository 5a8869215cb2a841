/** Faults that the demo can let happen, all from outside the app. */
import type { PartName, Stack } from '../../local/stack.js';
import type { FaultRule } from '../../local/faults/index.js';
import { CommandError } from '../errors.js';
import type { BoardRow } from '../orders/board.js';

/** The part of a stack that a fault needs. */
export type BreakableStack = Pick<Stack, 'kill' | 'restart' | 'setFaults' | 'counters'>;

/** A fault under way. */
export interface Fault {
  /** Called each time the orders were looked at; strikes when they are where it hurts. */
  consider(rows: readonly BoardRow[]): void;
  /** What it did, as lines; rejects when it could not be done. */
  report(): Promise<readonly string[]>;
}

/** A fault by its name on the command line. */
export interface FaultScenario {
  readonly story: string;
  begin(stack: BreakableStack, tell: (line: string) => void): Promise<Fault>;
}

export const faultScenarios: Readonly<Record<string, FaultScenario>> = {
  'host-killed': {
    story: 'the Functions host is killed (SIGKILL) while an order is being processed, and started again',
    begin: (stack, tell) => Promise.resolve(killOnce(stack, { part: 'functions-host', tell, isMoment: isInAStep })),
  },
  'broker-restarted': {
    story: 'the broker is killed (SIGKILL) while an order waits for a reply, and started again',
    begin: (stack, tell) => Promise.resolve(killOnce(stack, { part: 'service-bus', tell, isMoment: waitsInAStep })),
  },
  'store-restarted': {
    story: 'the state store is killed (SIGKILL) while an order is being processed, and started again',
    begin: (stack, tell) => Promise.resolve(killOnce(stack, { part: 'cosmos-db', tell, isMoment: isInAStep })),
  },
  'lost-acknowledgement': {
    story: 'the state store makes a change durable, but the connection breaks before it can say so',
    begin: (stack) =>
      withRules(stack, 'cosmos-db', [
        { operation: 'replace', entity: 'order-state', action: 'cutAfterCommit', skip: 2, times: 6 },
        { operation: 'create', entity: 'order-state', action: 'cutAfterCommit', times: 2 },
      ]),
  },
  'store-throttled': {
    story: 'the state store answers every third change with 429',
    begin: (stack) =>
      withRules(stack, 'cosmos-db', [
        { operation: 'replace', entity: 'order-state', action: 'refuse', error: '429', probability: 0.33 },
      ]),
  },
  'messages-duplicated': {
    story: 'the broker delivers requests and replies twice',
    begin: (stack) =>
      withRules(stack, 'service-bus', [
        { operation: 'deliver', entity: 'payment-requests', action: 'duplicate', times: 5 },
        { operation: 'deliver', entity: 'payment-replies', action: 'duplicate', times: 5 },
        { operation: 'deliver', entity: 'shipping-replies', action: 'duplicate', times: 5 },
      ]),
  },
};

interface Kill {
  readonly part: PartName;
  readonly tell: (line: string) => void;
  readonly isMoment: (row: BoardRow) => boolean;
}

/** Kills a part at the moment, and starts it again. */
function killOnce(stack: BreakableStack, { part, tell, isMoment }: Kill): Fault {
  let striking: Promise<string> | undefined;
  const strike = async (orderId: string): Promise<string> => {
    const begin = Date.now();
    await stack.kill(part);
    tell(`FAULT  ${part} was killed while ${orderId} was being processed`);
    await stack.restart(part);
    tell(`FAULT  ${part} runs again`);
    return `Fault: ${part} was killed while ${orderId} was being processed, and ran again after ${Date.now() - begin} ms.`;
  };
  return {
    consider(rows) {
      const victim = rows.find(isMoment);
      if (victim === undefined || striking !== undefined) return;
      striking = strike(victim.orderId);
      striking.catch(() => undefined); // Told by the report.
    },
    async report() {
      if (striking === undefined) throw new CommandError(`${part} was not killed: no order was seen in a step.`);
      return [await striking];
    },
  };
}

function isInAStep({ record }: BoardRow): boolean {
  return record?.steps.some(({ state }) => state === 'Running') === true;
}

/**
 * The SDK of Service Bus does not recover when its connection breaks in the moment in which it opens its first links, so the
 * broker dies a little later.
 */
const openingMs = 1_500;

function waitsInAStep({ record }: BoardRow): boolean {
  const since = record?.steps.find(({ state }) => state === 'Running')?.startedAt ?? undefined;
  return since !== undefined && Date.now() - Date.parse(since) > openingMs;
}

async function withRules(stack: BreakableStack, part: PartName, rules: readonly FaultRule[]): Promise<Fault> {
  await stack.setFaults(part, { seed: 1, rules });
  return {
    consider: () => undefined,
    report: async () => {
      const counters = Object.entries(await stack.counters(part));
      return rules.map(({ operation, entity = '*', action }) => {
        const rule = `${operation}/${entity}/${action}`;
        const hits = counters.filter(([name]) => name.endsWith(rule)).reduce((sum, [, count]) => sum + count, 0);
        return `Fault: ${rule} struck ${hits} times.`;
      });
    },
  };
}
