/**
 * Every identifier of the system, derived and never random (R23, T28, T31, T32).
 *
 * Invariants
 * ID1 What the broker or the runtime must tell apart per attempt carries the attempt: instance id, request id.
 * ID2 What the remote service must recognise over all attempts does not carry it: the idempotency keys.
 * ID3 An order id and a step id hold no dot; an order id fits every id of Cosmos DB, Durable Functions and Service Bus, and survives an unencoded URL (C5, T18).
 */
import { z } from 'zod';

/** Grammar of an order id: 1 to 64 letters, digits, `_` or `-`, beginning with a letter or digit. */
export const orderIdSchema = z
  .string({ error: 'expected a JSON string' })
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'expected 1 to 64 letters, digits, _ or -, starting with a letter or digit',
  );

/** Grammar of an application name; its status queue is `status-<name>`. */
export const applicationSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'expected 1 to 40 lower-case letters, digits or -');

/** Grammar of a step id. */
export const stepIdSchema = z.string().regex(/^[a-z][a-z0-9-]{0,23}$/, 'expected a step id');

/** An attempt number: 1 for the first claim of an order, growing by one with each claim (I3). */
export const attemptSchema = z.int().min(1);

/** Id of the one orchestration that runs this attempt (R85). */
export function orchestrationInstanceId(orderId: string, attempt: number): string {
  return `${orderId}.${attempt}`;
}

/** Identity of one agent request and its broker MessageId: differs in every attempt, else duplicate detection swallows the retry (C1). */
export function agentRequestId(orderId: string, attempt: number, stepId: string): string {
  return `${orderId}.${attempt}.${stepId}`;
}

/** The attempt that an instance id or a request id carries. No other part of either holds a dot (ID3). */
export function attemptOf(id: string): number {
  return Number(id.split('.')[1]);
}

/** Name of the external event that carries the reply of a step: one name a step, so a late reply cannot answer another (T16). */
export function replyEventName(stepId: string): string {
  return `reply.${stepId}`;
}

/**
 * Key by which the remote service recognises the step's one effect, the same in every attempt (R23).
 *
 * @param generation 2 or more after an operator has asked for another try of what has definitely failed: a service that
 *   remembers its answers would give the same one again under the old key
 */
export function idempotencyKey(orderId: string, stepId: string, generation = 1): string {
  return ofGeneration(`${orderId}.${stepId}`, generation);
}

/** Key by which the remote service recognises the undo of a step, the same in every attempt; `generation` as above. */
export function undoIdempotencyKey(orderId: string, stepId: string, generation = 1): string {
  return ofGeneration(`${orderId}.${stepId}.undo`, generation);
}

function ofGeneration(key: string, generation: number): string {
  return generation === 1 ? key : `${key}.r${generation}`;
}

/** Broker MessageId of a status message; `seq` grows with each status of the order (C1). */
export function statusMessageId(orderId: string, seq: number): string {
  return `${orderId}.${seq}`;
}

/** Queue on which an agent receives its requests. */
export function agentRequestQueueName(agent: string): string {
  return `${agent}-requests`;
}

/** Queue on which the scheduler receives an agent's replies. */
export function agentReplyQueueName(agent: string): string {
  return `${agent}-replies`;
}

/** Queue on which an application receives its status messages (R114). */
export function statusQueueName(application: string): string {
  return `status-${application}`;
}

/**
 * MessageId that our client gives an order: a repeat has the same id, a conflicting resend another one. The queue keeps
 * both, since other applications may choose any id; the stored order tells a repeat from a conflict.
 *
 * @param orderHash hexadecimal SHA-256 of the canonical order
 */
export function orderMessageId(orderId: string, orderHash: string): string {
  return `${orderId}.${orderHash.slice(0, 12)}`;
}
