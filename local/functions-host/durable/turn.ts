/**
 * One turn of an orchestration: the library replays the orchestrator over the history and the new events, and what it
 * asked for becomes a change of the instance. Nothing is changed and nothing is sent here.
 */
import { answerLabel } from '../console.js';
import type { TypedData } from '../core-api.js';
import { OrchestrationRuleError, type OrchestratorState } from './actions.js';
import type { HistoryEvent } from './history.js';
import { orchestratorStarted, type Instance, type TurnChange } from './instance.js';
import { isRepeatable, lostTurnText } from './lost-turn.js';
import { replayActions, type LongTimerLimits, type ReplayResult } from './replay-actions.js';
import { decideVersion, type VersionOptions } from './versions.js';

/** Runs the orchestrator function with its trigger data; resolves to what the function returned. */
export type InvokeOrchestrator = (instance: Instance, data: TypedData) => Promise<unknown>;

/** What a turn works with. */
export interface TurnInput {
  readonly instance: Instance;
  /** The events this turn takes: the head of the instance's inbox. */
  readonly batch: readonly HistoryEvent[];
  readonly at: string;
  readonly longTimers: LongTimerLimits;
}

/** What a turn leads to. */
export type TurnOutcome =
  | { readonly kind: 'change'; readonly change: TurnChange }
  | { readonly kind: 'continueAsNew'; readonly input: string; readonly customStatus: string | null };

/** Runs one turn if the app takes the instance's version, and fails the instance if it does not. */
export async function decideTurn(
  turn: TurnInput,
  options: VersionOptions & { readonly invokeOrchestrator: InvokeOrchestrator },
): Promise<TurnOutcome> {
  const { version } = turn.instance;
  if (decideVersion(version, options) === 'run') return runTurn(turn, options.invokeOrchestrator);
  const reason = `The app does not take orchestrations of version '${version ?? ''}'.`;
  return failedTurn(turn, failureText(turn.instance.name, reason));
}

/** Runs one turn; rejects when the orchestrator could not be run at all, and the turn has to be repeated. */
export async function runTurn(input: TurnInput, invoke: InvokeOrchestrator): Promise<TurnOutcome> {
  const answer = await runOrchestrator(input, invoke);
  if (typeof answer === 'string') return failedTurn(input, answer);
  if (answer.yieldedTwice !== undefined)
    return failedTurn(input, failureText(input.instance.name, answer.yieldedTwice));
  try {
    const actions = answer.actions[0] ?? [];
    const replayed = replayActions({
      executionId: input.instance.executionId,
      history: [...input.instance.history, orchestratorStarted(input.at), ...input.batch],
      actions,
      longTimers: input.longTimers,
    });
    return interpret(input, answer, replayed);
  } catch (error) {
    if (!(error instanceof OrchestrationRuleError)) throw error;
    return failedTurn(input, failureText(input.instance.name, error.message));
  }
}

/** The library's answer; a text is why the orchestrator could not run to its end, which fails the instance. */
async function runOrchestrator(input: TurnInput, invoke: InvokeOrchestrator): Promise<OrchestratorState | string> {
  try {
    return (await invoke(input.instance, { string: triggerText(input) })) as OrchestratorState;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const label = message.indexOf(answerLabel);
    if (label < 0) return unanswered(input, error);
    const state = JSON.parse(message.slice(label + answerLabel.length)) as OrchestratorState;
    return { ...state, error: state.error ?? '' };
  }
}

function unanswered({ instance }: TurnInput, error: unknown): string {
  if (isRepeatable(error)) throw error;
  return lostTurnText(instance, error);
}

/** Old events are marked as played, new ones are not: that is what `isReplaying` goes by. */
function triggerText({ instance, batch, at }: TurnInput): string {
  const played = instance.history.map((event) => eventText(event, true));
  const fresh = [orchestratorStarted(at), ...batch].map((event) => eventText(event, false));
  const parent = instance.parent === null ? 'null' : JSON.stringify(instance.parent.instanceId);
  return (
    `{"history":[${[...played, ...fresh].join(',')}],"input":${instance.input},` +
    `"instanceId":${JSON.stringify(instance.instanceId)},"isReplaying":${String(played.length > 0)},` +
    `"parentInstanceId":${parent},"upperSchemaVersion":1,"upperSchemaVersionNew":3,` +
    '"longRunningTimerIntervalDuration":"3.00:00:00","maximumShortTimerDuration":"6.00:00:00",' +
    '"defaultHttpAsyncRequestSleepTimeMillseconds":30000}'
  );
}

const playedTexts = new WeakMap<HistoryEvent, string>();

function eventText(event: HistoryEvent, isPlayed: boolean): string {
  if (!isPlayed) return JSON.stringify({ ...event, IsPlayed: false });
  const known = playedTexts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...event, IsPlayed: true });
  playedTexts.set(event, text);
  return text;
}

function interpret(input: TurnInput, state: OrchestratorState, replayed: ReplayResult): TurnOutcome {
  // The library leaves out an empty one, which clears the status.
  const customStatus = state.customStatus === undefined ? null : json(state.customStatus);
  const canEnd = !replayed.hasOpenTasks;
  if (replayed.continuedWith !== undefined && canEnd) {
    return { kind: 'continueAsNew', input: replayed.continuedWith, customStatus };
  }
  const { cancelledTimers } = input.instance;
  const change = {
    at: input.at,
    taken: input.batch.length,
    scheduled: replayed.scheduled,
    // The replay names every timer that was ever cancelled; a change holds only what is new.
    cancelled: replayed.cancelled.filter((id) => !cancelledTimers.includes(id)),
    customStatus,
  };
  return { kind: 'change', change: { ...change, ...ending(input.instance.name, state, canEnd) } };
}

function ending(name: string, state: OrchestratorState, canEnd: boolean): Pick<TurnChange, 'status' | 'output'> {
  if (canEnd && state.error !== undefined) return { status: 'Failed', output: json(failureText(name, state.error)) };
  if (canEnd && state.isDone) return { status: 'Completed', output: json(state.output) };
  return { status: 'Running', output: null };
}

/** A turn that ends the instance whatever it has on its way. */
function failedTurn({ instance, batch, at }: TurnInput, output: string): TurnOutcome {
  const change: TurnChange = {
    at,
    taken: batch.length,
    scheduled: [],
    cancelled: [],
    status: 'Failed',
    customStatus: instance.customStatus,
    output: json(output),
  };
  return { kind: 'change', change };
}

function failureText(name: string, error: string): string {
  return `Orchestrator function '${name}' failed: ${error}`;
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
