/** Cuts the text of a query into tokens. */
import { badQuery } from '../wire-errors.js';

/** A token with its place in the text. `upper` is the keyword form of a name. */
export interface Token {
  readonly kind: 'name' | 'parameter' | 'string' | 'number' | 'symbol' | 'placeholder' | 'end';
  readonly text: string;
  readonly upper: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const PARAMETER = /@[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;
const SYMBOL = />>>|<<|>>|<>|!=|<=|>=|\?\?|\|\||[=<>+\-*/%&|^~?:.,()[\]{}]/y;
/** Where the client puts its resume filter into a rewritten ORDER BY query. */
const PLACEHOLDER = /\{documentdb-formattableorderbyquery-filter\}/y;

const KINDS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['placeholder', PLACEHOLDER],
  ['name', NAME],
  ['parameter', PARAMETER],
  ['number', NUMBER],
  ['string', STRING],
  ['symbol', SYMBOL],
];

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function readToken(text: string, start: number): Token {
  for (const [kind, pattern] of KINDS) {
    const found = match(pattern, text, start);
    if (found !== undefined) {
      return { kind, text: found, upper: kind === 'name' ? found.toUpperCase() : '', start, end: start + found.length };
    }
  }
  throw badQuery(`Syntax error, invalid character ${JSON.stringify(text.charAt(start))} at ${start}.`);
}

/** The tokens of a query; the last one is of kind 'end'. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = match(SPACE, text, 0)?.length ?? 0;
  while (at < text.length) {
    const token = readToken(text, at);
    tokens.push(token);
    at = token.end + (match(SPACE, text, token.end)?.length ?? 0);
  }
  tokens.push({ kind: 'end', text: '', upper: '', start: text.length, end: text.length });
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The value of a string token. */
export function unquote(text: string): string {
  return text
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, code: string | undefined, character: string) => {
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      return ESCAPES[character] ?? character;
    });
}
