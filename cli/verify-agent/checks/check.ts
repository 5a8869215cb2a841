/** What a check is, and what the checks share. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentRequest } from '../../../functions/contracts/agent-request.js';
import type { AgentLink, Answer } from '../agent-link.js';
import type { EffectCounter } from '../effects.js';
import type { Finding } from '../finding.js';
import type { Payloads } from '../payloads.js';
import type { RequestFactory, RequestWish } from '../requests.js';

/** What the checks work with. */
export interface Bench {
  readonly link: AgentLink;
  readonly requests: RequestFactory;
  readonly payloads: Payloads;
  /** Absent: effects can only be told from the replies. */
  readonly effects: EffectCounter | undefined;
}

/** One point of the contract. */
export interface Check {
  readonly id: string;
  readonly title: string;
  /** What an agent must do, for those whose agent does not. */
  readonly rule: string;
  run(bench: Bench): Promise<Finding>;
}

/** A request and what became of it. */
export interface Asked {
  readonly request: AgentRequest;
  readonly answer: Answer;
}

/** A request that the remote service would do, unless something else is said. */
export type Wish = Omit<RequestWish, 'payload'> & Partial<Pick<RequestWish, 'payload'>>;

/** Builds a request with the payload of a success. */
export function buildRequest({ requests, payloads }: Bench, wish: Wish): AgentRequest {
  return requests.build({ payload: payloads.success, ...wish });
}

/** Sends a request and waits for what becomes of it. */
export async function ask(bench: Bench, wish: Wish): Promise<Asked> {
  const request = buildRequest(bench, wish);
  return { request, answer: await bench.link.answerTo(await bench.link.send(request)) };
}

/** The outcome that was replied; `silent` or `stuck` without a reply. */
export function outcomeOf(answer: Answer): string {
  return answer.kind === 'replied' ? textOf(answer.reply.body['outcome']) : answer.kind;
}

/** What became of a request, for reading. */
export function describe(answer: Answer): string {
  switch (answer.kind) {
    case 'silent':
      return 'no reply, and the request is out of its queue';
    case 'stuck':
      return 'no reply, and the request is still in its queue';
    case 'replied': {
      const { result, error } = answer.reply.body;
      const more = result ?? error;
      return more === undefined ? outcomeOf(answer) : `${outcomeOf(answer)} ${JSON.stringify(more)}`;
    }
  }
}

/** A problem when the outcome is none of these. */
export function expectOutcome(what: string, answer: Answer, outcomes: readonly string[]): readonly string[] {
  return outcomes.includes(outcomeOf(answer)) ? [] : [`${what}: ${describe(answer)}`];
}

/** A problem when two successes have different results. */
export function expectSameResult(what: string, one: Answer, other: Answer): readonly string[] {
  const isComparable = outcomeOf(one) === 'succeeded' && outcomeOf(other) === 'succeeded';
  if (!isComparable || isDeepStrictEqual(resultOf(one), resultOf(other))) return [];
  return [`${what}: ${JSON.stringify(resultOf(other))} instead of ${JSON.stringify(resultOf(one))}`];
}

/** The result of a reply. */
export function resultOf(answer: Answer): unknown {
  return answer.kind === 'replied' ? answer.reply.body['result'] : undefined;
}

/** A problem when the ledger counts another number of effects; none without a ledger. */
export async function expectEffects(
  { effects }: Bench,
  { orderId }: AgentRequest,
  count: 'done' | 'left',
  expected: number,
): Promise<readonly string[]> {
  const found = (await effects?.of(orderId))?.[count] ?? expected;
  const what = count === 'done' ? 'effects' : 'effects left after the undo';
  return found === expected ? [] : [`the ledger has ${found} ${what} instead of ${expected}`];
}

/** How effects were counted, for reading. */
export function ledgerNote({ effects }: Bench, note: string): string {
  return effects === undefined ? 'effects not counted: no --ledger-url' : note;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
