/**
 * Looks ahead to FROM: SELECT stands before it and uses its name. What is not supported there is refused by name, before
 * the parser meets names that only it would explain.
 */
import { notSupported } from '../wire-errors.js';
import type { Token } from './lexer.js';

const KEYWORD = /^(WHERE|ORDER|GROUP|OFFSET|JOIN|IN)$/;

/** The index of the token after FROM, outside any bracket; -1 when there is none. */
function indexAfterFrom(tokens: readonly Token[]): number {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'symbol' && '([{'.includes(token.text)) depth += 1;
    else if (token.kind === 'symbol' && ')]}'.includes(token.text)) depth -= 1;
    else if (depth === 0 && token.upper === 'FROM' && tokens[index - 1]?.text !== '.') return index + 1;
  }
  return -1;
}

/** The name that the query gives to the document; undefined when it has no FROM. */
export function readAlias(tokens: readonly Token[]): string | undefined {
  const index = indexAfterFrom(tokens);
  if (index < 0) return undefined;
  const [root = end, second = end, ...rest] = tokens.slice(index);
  refuseStart(root, second);
  const [alias = end, next = end] = second.upper === 'AS' ? rest : [second, ...rest];
  const hasAlias = alias.kind === 'name' && !KEYWORD.test(alias.upper);
  refuseOtherSources(hasAlias ? next : alias);
  return (hasAlias ? alias : root).text;
}

const end: Token = { kind: 'end', text: '', upper: '', start: 0, end: 0 };

function refuseStart(root: Token, second: Token): void {
  if (root.text === '(') throw notSupported('A subquery');
  if (second.text === '.' || second.text === '[') throw notSupported('FROM on a part of the document');
}

function refuseOtherSources({ upper }: Token): void {
  if (upper === 'IN') throw notSupported('Iteration (FROM … IN …)');
  if (upper === 'JOIN') throw notSupported('JOIN');
}
