/** What expressions are compiled with and to. */
import type { Json, JsonObject, Value } from './values.js';

/** What an expression may read beside the document. */
export interface Scope {
  readonly parameters: Readonly<Record<string, Json>>;
  /** The time of the query in milliseconds. */
  readonly now: number;
}

/** A compiled expression. */
export type Evaluator = (document: JsonObject) => Value;
