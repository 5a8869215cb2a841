/** Walks over the tokens of a query; the parser's only view of them. */
import { badQuery } from '../wire-errors.js';
import { readAlias } from './from-clause.js';
import type { Token } from './lexer.js';
import { tokenize } from './lexer.js';

/** Longer texts are refused, as in the service. */
export const MAX_TEXT_LENGTH = 256 * 1024;
export const MAX_TOKENS = 16_384;
/** These two bound the recursion of the parser and of the evaluator. */
const MAX_OPERATORS = 1000;
const MAX_DEPTH = 64;

export interface Cursor {
  readonly text: string;
  /** The name of the document; undefined in a query without FROM. */
  readonly alias: string | undefined;
  peek(ahead?: number): Token;
  next(): Token;
  /** Takes the next token when it is this symbol or keyword. */
  accept(text: string): boolean;
  expect(text: string): void;
  isAt(text: string): boolean;
  /** Runs a step with what it consumed as text. */
  written<T>(step: () => T): { readonly result: T; readonly text: string };
  /** Runs a step one level deeper; refuses endless nesting. */
  nested<T>(step: () => T): T;
  /** Counts an operator or a member access: a long chain of them is a deep tree. */
  countOperator(): void;
  fail(message?: string): never;
}

function isText(token: Token, text: string): boolean {
  return token.kind === 'name' ? token.upper === text : token.kind === 'symbol' && token.text === text;
}

/** The tokens of a query that is neither too long nor too complex, with the one that ends it. */
function tokensOf(text: string): { readonly tokens: readonly Token[]; readonly end: Token } {
  if (text.length > MAX_TEXT_LENGTH) throw badQuery(`The query text is longer than ${MAX_TEXT_LENGTH} characters.`);
  const tokens = tokenize(text);
  if (tokens.length > MAX_TOKENS) throw badQuery(`The query is too complex: more than ${MAX_TOKENS} tokens.`);
  return { tokens, end: tokens[tokens.length - 1] as Token };
}

/** Opens a cursor at the start of a query. */
export function createCursor(text: string): Cursor {
  const { tokens, end } = tokensOf(text);
  let at = 0;
  let depth = 0;
  let operators = 0;

  const peek = (ahead = 0): Token => tokens[at + ahead] ?? end;
  const isAt = (expected: string): boolean => isText(peek(), expected);
  const next = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };
  const accept = (expected: string): boolean => {
    if (!isAt(expected)) return false;
    at += 1;
    return true;
  };
  const fail = (message?: string): never => {
    const near = peek().kind === 'end' ? 'the end of the query' : `'${peek().text}'`;
    throw badQuery(message ?? `Syntax error, incorrect syntax near ${near}.`);
  };
  return {
    text,
    alias: readAlias(tokens),
    peek,
    next,
    accept,
    isAt,
    fail,
    expect: (expected) => {
      if (!accept(expected)) fail();
    },
    countOperator: () => {
      operators += 1;
      if (operators > MAX_OPERATORS) fail(`The query is too complex: more than ${MAX_OPERATORS} operators.`);
    },
    written: (step) => {
      const { start } = peek();
      const result = step();
      return { result, text: text.slice(start, peek(-1).end) };
    },
    nested: (step) => {
      depth += 1;
      if (depth > MAX_DEPTH) fail(`The query is nested more than ${MAX_DEPTH} levels deep.`);
      const result = step();
      depth -= 1;
      return result;
    },
  };
}
