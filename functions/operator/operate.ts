/** What an operator may do with an order: each verb is one transition, with a reason that stays on the record (R103, T83). */
import { z } from 'zod';
import { orderIdSchema, stepIdSchema } from '../contracts/identifiers.js';
import { describeIssues } from '../contracts/rejection.js';
import { addMs } from '../contracts/timestamp.js';
import { PermanentError } from '../state/errors.js';
import type { AdmissionStore, Clock } from '../state/ports.js';
import { abandon, compensate, resubmit, retryUndo, skipUndo } from '../state/operator-transitions.js';
import { applyTransition } from '../status/apply-transition.js';
import type { TransitionDeps, TransitionResult } from '../status/apply-transition.js';

/** What the operator's verbs need. */
export interface OperatorDeps extends TransitionDeps {
  readonly policy: { readonly budgetGrant: number; readonly orderLifetimeMs: number };
}

/** An answer for HTTP. */
export interface OperatorAnswer {
  readonly status: number;
  readonly json: unknown;
}

const requestSchema = z.object({ reason: z.string().min(1).max(500), stepId: stepIdSchema.optional() });

type OperatorRequest = z.infer<typeof requestSchema>;

/** The record of an order. */
export async function showOrder(orderId: string, deps: OperatorDeps): Promise<OperatorAnswer> {
  return explainUnreadable(async () => {
    const seen = orderIdSchema.safeParse(orderId).success ? await deps.store.getLatest(orderId) : undefined;
    return seen === undefined ? unknownOrder : { status: 200, json: seen.record };
  });
}

/** A record that this build can't read gets a plain answer with what is wrong (C49). */
async function explainUnreadable(work: () => Promise<OperatorAnswer>): Promise<OperatorAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PermanentError) return problem(409, error.code, error.message);
    throw error;
  }
}

/** Names of the operator's verbs. */
export const operatorVerbs = ['resubmit', 'compensate', 'retry-undo', 'skip-undo', 'abandon'] as const;
export type OperatorVerb = (typeof operatorVerbs)[number];

/** Applies a verb to an order: 200 with the record, 400 bad request, 404 unknown, 409 not in this state. */
export async function operate(
  verb: OperatorVerb,
  request: { readonly orderId: string; readonly body: unknown },
  deps: OperatorDeps,
): Promise<OperatorAnswer> {
  const parsed = requestSchema.safeParse(request.body);
  if (!parsed.success) return badRequest(parsed.error);
  if (!orderIdSchema.safeParse(request.orderId).success) return unknownOrder;
  return explainUnreadable(async () => toAnswer(await applyVerb(verb, request.orderId, parsed.data, deps)));
}

function toAnswer(result: TransitionResult): OperatorAnswer {
  switch (result.kind) {
    case 'missing':
      return unknownOrder;
    case 'applied':
      return { status: 200, json: result.record };
    case 'refused':
      return problem(409, result.reason, `the order is ${result.record.processState}`);
  }
}

function applyVerb(
  verb: OperatorVerb,
  orderId: string,
  { reason, stepId = '' }: OperatorRequest,
  deps: OperatorDeps,
): Promise<TransitionResult> {
  const { budgetGrant, orderLifetimeMs } = deps.policy;
  const expiresAt = addMs(deps.clock.now(), orderLifetimeMs);
  switch (verb) {
    case 'resubmit':
      return applyTransition(deps, orderId, resubmit, { reason, budgetGrant, expiresAt });
    case 'compensate':
      return applyTransition(deps, orderId, compensate, { reason, expiresAt });
    case 'retry-undo':
      return applyTransition(deps, orderId, retryUndo, { reason, stepId, expiresAt });
    case 'skip-undo':
      return applyTransition(deps, orderId, skipUndo, { reason, stepId, expiresAt });
    case 'abandon':
      return applyTransition(deps, orderId, abandon, { reason });
  }
}

const historyLimit = 50;

/** Pauses or resumes intake for all applications; the starter's next run makes it known to submit. */
export async function setIntake(
  isPaused: boolean,
  body: unknown,
  { admission, clock }: { readonly admission: AdmissionStore; readonly clock: Clock },
): Promise<OperatorAnswer> {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return badRequest(parsed.error);
  const decision = { isPaused, reason: parsed.data.reason, at: clock.now() };
  const pause = await admission.changePause((stored) => ({
    ...decision,
    history: [...(stored?.history ?? []), decision].slice(-historyLimit),
  }));
  return { status: 200, json: pause };
}

const unknownOrder = problem(404, 'UnknownOrder', 'no such order');

/** Names the wrong fields: a step that cannot be one is told apart from a missing reason. */
function badRequest(error: z.ZodError): OperatorAnswer {
  const message = `send a JSON object with a reason of 1 to 500 characters (${describeIssues(error)})`;
  return problem(400, 'BadRequest', message);
}

function problem(status: number, code: string, message: string): OperatorAnswer {
  return { status, json: { code, message } };
}
