/** The ways of an order through the system whose effects the matrix disturbs. */
import { isTerminal } from '../../../functions/state/state-record.js';
import type { ProcessState, StateRecord } from '../../../functions/state/state-record.js';
import type { RemoteBehaviour } from '../../support/matrix-remote.js';
import { eventually, matrixOrder } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';

/** What an operator does when the order has come to a state. */
interface OperatorStep {
  readonly when: ProcessState;
  readonly verb: string;
  readonly stepId?: string;
}

/** One way of an order. */
export interface Scenario {
  readonly name: string;
  /** As a script, with the number of the operator's steps so far. */
  readonly remote: (operation: string, nth: number, steps: number) => RemoteBehaviour;
  readonly operator: readonly OperatorStep[];
  /** Messages with the same order that follow when it has ended. */
  readonly repeats: number;
  readonly end: ProcessState;
}

const refusesShipment = (operation: string): RemoteBehaviour =>
  operation === 'shipping/shipments' ? 'refuse' : 'work';

function scenario(name: string, end: ProcessState, parts: Partial<Scenario> = {}): Scenario {
  return { name, end, remote: () => 'work', operator: [], repeats: 0, ...parts };
}

/** All ways; each reaches effects that the ones before it do not. */
export const scenarios: readonly Scenario[] = [
  scenario('processed', 'Processed'),
  scenario('sent twice', 'Processed', { repeats: 1 }),
  scenario('agent silent once', 'Processed', {
    // Both calls that a request may make.
    remote: (operation, nth) => (operation === 'payment/charges' && nth <= 2 ? 'hang' : 'work'),
  }),
  scenario('payment refused', 'Compensated', {
    remote: (operation) => (operation === 'payment/charges' ? 'refuse' : 'work'),
  }),
  scenario('carrier refuses', 'Compensated', { remote: refusesShipment }),
  scenario('fault, then resubmitted', 'Processed', {
    remote: (operation, _nth, steps) => (operation === 'shipping/shipments' && steps === 0 ? 'fail' : 'work'),
    operator: [{ when: 'Error', verb: 'resubmit' }],
  }),
  scenario('undo fails, then retried', 'Compensated', {
    remote: (operation, _nth, steps) =>
      operation === 'payment/refunds' && steps === 0 ? 'fail' : refusesShipment(operation),
    operator: [{ when: 'CompensationFailed', verb: 'retry-undo', stepId: 'payment' }],
  }),
  scenario('undo fails, then skipped', 'Compensated', {
    remote: (operation) => (operation === 'payment/refunds' ? 'fail' : refusesShipment(operation)),
    operator: [{ when: 'CompensationFailed', verb: 'skip-undo', stepId: 'payment' }],
  }),
  scenario('given up, then undone', 'Compensated', {
    remote: (operation) => (operation === 'payment/charges' ? 'hang' : 'work'),
    operator: [{ when: 'Error', verb: 'compensate' }],
  }),
  scenario('given up, then abandoned', 'Error', {
    remote: (operation) => (operation === 'payment/charges' ? 'hang' : 'work'),
    operator: [{ when: 'Error', verb: 'abandon' }],
  }),
];

/** The scenario of a name. */
export function findScenario(name: string): Scenario {
  const found = scenarios.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`there is no scenario "${name}"`);
  return found;
}

/** Takes an order the scenario's way and resolves when it has come to its end. */
export async function play(world: MatrixWorld, scenario: Scenario, orderId: string): Promise<void> {
  const body = matrixOrder(orderId);
  const way = { steps: 0 };
  world.remote.script(orderId, (operation, nth) => scenario.remote(operation, nth, way.steps));
  await world.send(body, `${orderId}.first`);
  for (const step of scenario.operator) await operate(world, orderId, step, way);
  for (let repeat = 1; repeat <= scenario.repeats; repeat += 1) {
    await ended(world, orderId);
    await world.send(body, `${orderId}.repeat-${repeat}`);
    await taken(world);
  }
  await ended(world, orderId);
}

/** A repeat changes nothing that could be waited for but the queue. */
function taken({ stack }: MatrixWorld): Promise<unknown> {
  const isTaken = async (): Promise<boolean> => (await stack.counters('service-bus'))['orders.messages'] === 0;
  return eventually('the repeat to be taken', isTaken, 60_000);
}

function ended(world: MatrixWorld, orderId: string): Promise<unknown> {
  return eventually(`the end of ${orderId}`, async () => isAtRest(await world.record(orderId)), 60_000);
}

function isAtRest(record: StateRecord | undefined): boolean {
  return record !== undefined && isTerminal(record) && record.outbox.length === 0;
}

/** Asks until the record shows that the operator has acted: an answer may be lost. */
async function operate(world: MatrixWorld, orderId: string, step: OperatorStep, way: { steps: number }): Promise<void> {
  const earlier = way.steps;
  const isDone = ({ history }: StateRecord): boolean =>
    history.filter(({ actor }) => actor === 'operator').length > earlier;
  await eventually(
    `${step.verb} of ${orderId}`,
    async () => {
      const record = await world.record(orderId);
      if (record !== undefined && isDone(record)) return true;
      if (record?.processState !== step.when || !isAtRest(record)) return false;
      way.steps = earlier + 1;
      await ask(world, orderId, step);
      return false;
    },
    60_000,
  );
}

async function ask({ stack }: MatrixWorld, orderId: string, { verb, stepId }: OperatorStep): Promise<void> {
  const body = JSON.stringify({ reason: 'fault matrix', ...(stepId === undefined ? {} : { stepId }) });
  const headers = { 'content-type': 'application/json', 'x-functions-key': String(stack.hostKey) };
  await fetch(`${stack.hostUrl}/api/orders/${orderId}/${verb}`, { method: 'POST', headers, body }).catch(
    () => undefined,
  );
}
