/** The shape of a parsed query. */
import type { Json } from './values.js';

export type UnaryOperator = 'NOT' | '-' | '+' | '~';

export type BinaryOperator =
  | 'AND'
  | 'OR'
  | '??'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '||'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '>>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

export type AggregateName = 'COUNT' | 'SUM' | 'MIN' | 'MAX' | 'AVG';

/** A scalar expression. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'path'; readonly steps: readonly (string | number)[] }
  | { readonly kind: 'member'; readonly object: Expression; readonly key: Expression }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'in'; readonly operand: Expression; readonly choices: readonly Expression[] }
  | { readonly kind: 'between'; readonly operand: Expression; readonly low: Expression; readonly high: Expression }
  | { readonly kind: 'like'; readonly operand: Expression; readonly pattern: Expression; readonly escape?: Expression }
  | {
      readonly kind: 'conditional';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression;
    }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Expression[] }
  | { readonly kind: 'aggregate'; readonly name: AggregateName; readonly argument: Expression }
  | { readonly kind: 'array'; readonly items: readonly Expression[] }
  | { readonly kind: 'object'; readonly entries: readonly ObjectEntry[] };

export interface ObjectEntry {
  readonly key: string;
  readonly value: Expression;
}

/** An expression with the text it was written as, for the rewritten query of the query plan. */
export interface Written {
  readonly expression: Expression;
  readonly text: string;
}

/** One column of SELECT. */
export interface SelectItem extends Written {
  readonly alias: string;
}

/** What SELECT yields for each document. */
export type Selection =
  | { readonly kind: 'all' }
  | { readonly kind: 'value'; readonly value: Written }
  | { readonly kind: 'list'; readonly items: readonly SelectItem[] };

export interface OrderTerm extends Written {
  readonly descending: boolean;
}

/** A number written out or given as a parameter. */
export type Amount =
  { readonly kind: 'number'; readonly value: number } | { readonly kind: 'parameter'; readonly name: string };

/** A whole query. */
export interface Query {
  readonly selection: Selection;
  readonly distinct: boolean;
  readonly top?: Amount;
  /** The name of the document; absent in a query without FROM. */
  readonly alias?: string;
  readonly where?: Written;
  readonly groupBy: readonly Written[];
  readonly orderBy: readonly OrderTerm[];
  readonly limit?: { readonly offset: Amount; readonly count: Amount };
}
