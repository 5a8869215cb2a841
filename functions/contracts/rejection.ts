/** Why a message is refused at the door, in a form that dead-letter queues, alerts and tests share (C20). */
import type { z } from 'zod';

/** Reason codes of refused messages (`DeadLetterReason`). */
export type RejectionReason =
  | 'InvalidMessage' // no JSON object in the body
  | 'InvalidOrderId' // the order id is missing, no JSON string, or breaks the grammar
  | 'InvalidOrder' // another field of the order is wrong
  | 'InvalidReply' // an agent's reply breaks the contract
  | 'InvalidRequest' // an agent request breaks the contract
  | 'InvalidHint' // a supervisor hint breaks the contract
  | 'UnsupportedSchemaVersion' // newer (or unknown) than this build knows
  | 'UnknownApplication' // the application is not registered
  | 'OrderConflict' // another order with this id exists
  | 'PermanentFault'; // it can't be handled, now or later

/** A refusal: the reason code and a description of at most 4096 characters that quotes no value of the message. */
export interface Rejection {
  readonly reason: RejectionReason;
  readonly description: string;
}

/** The outcome of reading a message. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly rejection: Rejection };

const maxDescriptionLength = 4096;

/** Builds a refusal; the description is cut to what a broker accepts. */
export function rejection(reason: RejectionReason, description: string): Rejection {
  return { reason, description: description.slice(0, maxDescriptionLength) };
}

/** Builds the failed outcome of reading a message. */
export function rejected(reason: RejectionReason, description: string): { ok: false; rejection: Rejection } {
  return { ok: false, rejection: rejection(reason, description) };
}

/** Names every wrong field with what is expected, never with the value found (it may be personal data). */
export function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join('.') || 'message'}: ${issue.message}`).join('; ');
}
