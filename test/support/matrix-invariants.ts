/**
 * The five invariants that hold after every cell of the fault matrix, in one checker.
 *
 * Invariants
 * X1 No accepted order is lost: what the broker has accepted is stored as an order with a record, and no valid message is
 *    in a dead-letter queue.
 * X2 No record is stuck once the faults end: each is in a terminal state with an empty outbox, and no orchestration runs on.
 * X3 The remote service saw one key for each operation, has at most one effect for it, and none left after its undo.
 * X4 After de-duplication by `seq` the application has *received* first and one terminal status for each ending.
 * X5 Orders database, records and ledger tell the same story.
 */
import { idempotencyKey, undoIdempotencyKey } from '../../functions/contracts/identifiers.js';
import type { StatusMessage } from '../../functions/contracts/status-message.js';
import type { LedgerEntry } from '../../functions/demo/ledger.js';
import { findWorkflow } from '../../functions/state/order-workflow.js';
import { isTerminal, terminalStates } from '../../functions/state/state-record.js';
import type { CompensationEntry, ProcessState, StateRecord } from '../../functions/state/state-record.js';
import { eventually, NotInTime } from './matrix-world.js';
import type { MatrixWorld } from './matrix-world.js';
import { firstKey } from './idempotency-keys.js';

/** Everything that is known of one order, from all sides. */
interface Evidence {
  readonly orderId: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly order: Readonly<Record<string, unknown>> | undefined;
  readonly record: StateRecord | undefined;
  readonly ledger: readonly LedgerEntry[];
  readonly statuses: readonly StatusMessage[];
  readonly calls: ReturnType<MatrixWorld['remote']['calls']>;
}

/** Where messages of the app wait. */
export const appQueues: readonly string[] = [
  'orders',
  'payment-requests',
  'payment-replies',
  'shipping-requests',
  'shipping-replies',
  'supervisor-hints',
];

/** Dead letters that a fault may leave: requests and hints that came too late to be of use. Orders and replies never. */
const queuesWithoutDeadLetters: readonly string[] = ['orders', 'payment-replies', 'shipping-replies'];

/** How long the checker waits for what should still come. */
const usualPatienceMs = 30_000;

/** What the accepted orders of a cell broke; empty when all invariants hold. Waits until the world is quiet. */
export async function violations(
  world: MatrixWorld,
  sent: ReadonlyMap<string, unknown>,
  expectedDeadLetters = 0,
  patienceMs = usualPatienceMs,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const orderId of sent.keys()) problems.push(...(await stuck(world, orderId, patienceMs)));
  problems.push(...(await noise(world, patienceMs)));
  for (const [orderId, body] of sent) {
    const evidence = await collect(world, { orderId, sent: body as Evidence['sent'] }, patienceMs);
    const found = [
      ...lost(evidence),
      ...remoteProblems(evidence),
      ...statusProblems(evidence),
      ...disagreements(evidence),
    ];
    problems.push(...found.map((problem) => `${orderId}: ${problem}`));
  }
  const deadLetters = await countDeadLetters(world);
  if (deadLetters !== expectedDeadLetters)
    problems.push(`X1 ${deadLetters} dead letters, expected ${expectedDeadLetters}`);
  return problems;
}

/** How many orders and replies are in dead-letter queues. */
export async function countDeadLetters({ stack }: MatrixWorld): Promise<number> {
  const counters = await stack.counters('service-bus');
  return queuesWithoutDeadLetters.reduce((sum, queue) => sum + (counters[`${queue}-dead-letter.messages`] ?? 0), 0);
}

async function stuck(world: MatrixWorld, orderId: string, patienceMs: number): Promise<readonly string[]> {
  const hasEnded = async (): Promise<boolean> => {
    const record = await world.record(orderId);
    return record !== undefined && isTerminal(record) && record.outbox.length === 0;
  };
  try {
    await eventually(`the record of ${orderId} to end with an empty outbox`, hasEnded, patienceMs);
    return [];
  } catch (error) {
    if (!(error instanceof NotInTime)) throw error;
    const record = await world.record(orderId);
    return [`${orderId}: X2 stuck in ${record?.processState ?? 'nothing'} (${JSON.stringify(record?.history.at(-1))})`];
  }
}

/** Waits until no message of the app is on its way and no orchestration runs. */
async function noise({ stack }: MatrixWorld, patienceMs: number): Promise<readonly string[]> {
  const waiting = async (): Promise<string[]> => {
    const counters = await stack.counters('service-bus');
    const messages = appQueues.filter((queue) => (counters[`${queue}.messages`] ?? 0) > 0);
    const running = await fetch(`${stack.hostUrl}/durabletask/instances?runtimeStatus=Running,Pending&showInput=false`);
    const instances = (await running.json()) as readonly { readonly instanceId: string }[];
    return [
      ...messages.map((queue) => `messages in ${queue}`),
      ...instances.map(({ instanceId }) => `${instanceId} runs`),
    ];
  };
  try {
    await eventually('the world to be quiet', async () => (await waiting()).length === 0, patienceMs);
    return [];
  } catch (error) {
    if (!(error instanceof NotInTime)) throw error;
    return [`X2 not quiet: ${(await waiting()).join(', ')}`];
  }
}

async function collect(
  world: MatrixWorld,
  { orderId, sent }: Pick<Evidence, 'orderId' | 'sent'>,
  patienceMs: number,
): Promise<Evidence> {
  const record = await world.record(orderId);
  const document = await world.orders.item(orderId, orderId).read<{ order: Readonly<Record<string, unknown>> }>();
  const query = { query: 'SELECT * FROM c WHERE c.orderId = @id', parameters: [{ name: '@id', value: orderId }] };
  const ledger = await world.ledger.items.query<LedgerEntry>(query, { partitionKey: orderId }).fetchAll();
  const expected = record?.outboxSeq ?? 0;
  const told = (): readonly StatusMessage[] | undefined => {
    const distinct = distinctBySeq(world.statuses(orderId));
    return distinct.length >= expected ? distinct : undefined;
  };
  const what = `${expected} statuses of ${orderId}`;
  const statuses = await eventually(what, told, patienceMs).catch((error: unknown) => {
    if (error instanceof NotInTime) return distinctBySeq(world.statuses(orderId));
    throw error;
  });
  const calls = world.remote.calls(orderId);
  return { orderId, sent, order: document.resource?.order, record, ledger: ledger.resources, statuses, calls };
}

/** What an application keeps: each `seq` once, in their order. */
function distinctBySeq(statuses: readonly StatusMessage[]): readonly StatusMessage[] {
  const bySeq = new Map(statuses.map((status) => [status.seq, status]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

function lost({ order, record }: Evidence): readonly string[] {
  return [
    ...(order === undefined ? ['X1 the order is not in the orders database'] : []),
    ...(record === undefined ? ['X1 there is no state record'] : []),
  ];
}

function remoteProblems({ orderId, calls, ledger, record }: Evidence): readonly string[] {
  const problems = ledger.flatMap((entry) => ledgerProblems(orderId, entry));
  for (const operation of new Set(calls.map((call) => call.operation))) {
    const keys = new Set(calls.filter((call) => call.operation === operation).map(({ key }) => firstKey(key)));
    if (keys.size > 1) problems.push(`X3 ${operation} was called with ${keys.size} keys: ${[...keys].join(', ')}`);
  }
  const forward = calls.filter(({ key }) => !firstKey(key).endsWith('.undo')).length;
  const spent = record?.budget.spent ?? 0;
  return forward > spent ? [...problems, `X3 ${forward} calls, but only ${spent} of the budget are spent`] : problems;
}

function ledgerProblems(orderId: string, { service, effect, undo, furtherKeys }: LedgerEntry): string[] {
  const expected = [idempotencyKey(orderId, service), undoIdempotencyKey(orderId, service)];
  const foreign = [effect, undo].flatMap((entry, index) =>
    entry === null || firstKey(entry.key) === expected[index] ? [] : [`X3 foreign key ${entry.key}`],
  );
  const second = furtherKeys.map((key) => `X3 a second effect of ${service} was asked for, with key ${key}`);
  const landedAfterUndo = effect !== null && undo !== null && effect.token > undo.token;
  const late = landedAfterUndo ? [`X3 the effect of ${service} is younger than its undo`] : [];
  return [...foreign, ...second, ...late];
}

function statusProblems({ record, statuses }: Evidence): readonly string[] {
  if (record === undefined) return [];
  const problems: string[] = [];
  const kinds = statuses.map(({ status }) => status);
  if (kinds[0] !== 'OrderReceived') problems.push(`X4 the first status is ${kinds[0] ?? 'missing'}`);
  const terminal = kinds.slice(1);
  const endings = endingsOf(record);
  if (terminal.length !== endings) problems.push(`X4 ${terminal.length} terminal statuses for ${endings} endings`);
  const expected = record.processState === 'Processed' ? 'OrderCompleted' : 'OrderFailed';
  if (terminal.at(-1) !== expected)
    problems.push(`X4 ${record.processState}, but the last status is ${terminal.at(-1) ?? 'none'}`);
  return problems;
}

/** An order ends once, and once more each time an operator took it up again or settled its undo. */
function endingsOf({ history }: StateRecord): number {
  const isEnd = (state: ProcessState | null): boolean => state !== null && terminalStates.includes(state);
  return history.filter(({ from, to }) => isEnd(to) && (!isEnd(from) || (to === 'Compensated' && from !== to))).length;
}

function disagreements({ sent, order, record, ledger }: Evidence): readonly string[] {
  if (record === undefined || order === undefined) return [];
  const problems = Object.keys(sent)
    .filter((field) => JSON.stringify(sent[field]) !== JSON.stringify(order[field]))
    .map((field) => `X5 the stored order differs in ${field}`);
  const steps = findWorkflow(record.workflowVersion)?.steps ?? [];
  for (const { id, agent } of steps) {
    const entry = ledger.find(({ service }) => service === agent);
    const isInEffect = entry !== undefined && entry.effect !== null && entry.undo === null;
    const intent = record.compensation.find(({ stepId }) => stepId === id);
    const problem = disagreement(record, isInEffect, intent);
    if (problem !== undefined) problems.push(`X5 ${record.processState}, but ${agent} ${problem}`);
  }
  return problems;
}

function disagreement(
  record: StateRecord,
  isInEffect: boolean,
  intent: CompensationEntry | undefined,
): string | undefined {
  if (record.processState === 'Processed') return isInEffect ? undefined : 'has no effect in force';
  if (!isInEffect) return hasLostEffect(record, intent) ? 'has lost its effect' : undefined;
  if (intent === undefined) return 'has an effect of which the record knows nothing';
  return mayStay(record, intent) ? undefined : `has an effect in force although its undo is ${intent.state}`;
}

function hasLostEffect({ processState, steps }: StateRecord, intent: CompensationEntry | undefined): boolean {
  return processState === 'Error' && steps.some(({ id, state }) => id === intent?.stepId && state === 'Completed');
}

/** Effects stay where an operator has to look at the order, and where one has decided so. */
function mayStay({ processState, history }: StateRecord, { stepId, state }: CompensationEntry): boolean {
  const isUnfinished = processState === 'CompensationFailed' && state !== 'Done';
  const wasSkipped = history.some(
    ({ actor, note }) => actor === 'operator' && note.startsWith(`skip undo of ${stepId}`),
  );
  return processState === 'Error' || isUnfinished || wasSkipped;
}
