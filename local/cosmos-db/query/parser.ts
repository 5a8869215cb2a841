/** Parses a whole query. What the embedded server leaves out is refused here, by name. */
import { notSupported } from '../wire-errors.js';
import { hasAggregate } from './aggregates.js';
import { checkAmount } from './amount.js';
import type { Amount, Expression, OrderTerm, Query, Selection, SelectItem, Written } from './ast.js';
import type { Cursor } from './cursor.js';
import { createCursor } from './cursor.js';
import { parseExpression } from './parse-expression.js';
import { selectionExpression } from './selection.js';

const CACHE_SIZE = 256;
/** Longer texts are rarely repeated and would fill memory. */
const MAX_CACHED_LENGTH = 8 * 1024;
const cache = new Map<string, Query>();

/** The query of a text; texts seen lately are parsed once. */
export function parseQuery(text: string): Query {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const query = parse(createCursor(text));
  if (text.length > MAX_CACHED_LENGTH) return query;
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(text, query);
  return query;
}

function parse(cursor: Cursor): Query {
  cursor.expect('SELECT');
  const distinct = cursor.accept('DISTINCT');
  const top = cursor.accept('TOP') ? parseAmount(cursor) : undefined;
  const selection = parseSelection(cursor);
  parseFrom(cursor);
  const where = cursor.accept('WHERE') ? parseWritten(cursor) : undefined;
  const groupBy = parseGroupBy(cursor);
  const orderBy = parseOrderBy(cursor);
  const limit = parseLimit(cursor);
  if (cursor.peek().kind !== 'end') cursor.fail();
  const query: Query = {
    selection,
    distinct,
    groupBy,
    orderBy,
    ...(cursor.alias === undefined ? {} : { alias: cursor.alias }),
    ...(top === undefined ? {} : { top }),
    ...(where === undefined ? {} : { where }),
    ...(limit === undefined ? {} : { limit }),
  };
  checkCombination(cursor, query);
  return query;
}

function checkCombination(cursor: Cursor, query: Query): void {
  if (query.alias === undefined && query.selection.kind === 'all')
    cursor.fail("'SELECT *' is not valid if FROM clause is omitted.");
  if (query.alias === undefined && needsSource(query))
    throw notSupported('TOP, DISTINCT, an aggregate, GROUP BY, ORDER BY or OFFSET in a query without FROM');
  if (query.groupBy.length > 0 && query.orderBy.length > 0)
    cursor.fail("'ORDER BY' is not supported together with 'GROUP BY'.");
  if (query.top !== undefined && query.limit !== undefined) cursor.fail("'TOP' cannot be used with 'OFFSET LIMIT'.");
}

/** True for a query that counts, orders or compares results. */
function needsSource({ distinct, top, limit, orderBy, groupBy, selection }: Query): boolean {
  const combines = distinct || top !== undefined || limit !== undefined || orderBy.length > 0 || groupBy.length > 0;
  return combines || hasAggregate(selectionExpression(selection));
}

function parseWritten(cursor: Cursor): Written {
  const { result, text } = cursor.written(() => parseExpression(cursor));
  return { expression: result, text };
}

function parseAmount(cursor: Cursor): Amount {
  const token = cursor.next();
  if (token.kind === 'parameter') return { kind: 'parameter', name: token.text };
  return { kind: 'number', value: checkAmount(token.kind === 'number' ? Number(token.text) : undefined) };
}

function parseSelection(cursor: Cursor): Selection {
  if (cursor.accept('*')) return { kind: 'all' };
  if (cursor.isAt('VALUE') && cursor.peek(1).text !== ',' && cursor.peek(1).upper !== 'FROM') {
    cursor.next();
    return { kind: 'value', value: parseWritten(cursor) };
  }
  const items: SelectItem[] = [];
  do items.push(parseSelectItem(cursor, items.length));
  while (cursor.accept(','));
  return { kind: 'list', items };
}

function parseSelectItem(cursor: Cursor, index: number): SelectItem {
  const written = parseWritten(cursor);
  if (cursor.accept('AS') || (cursor.peek().kind === 'name' && !cursor.isAt('FROM'))) {
    const alias = cursor.next();
    if (alias.kind !== 'name') cursor.fail();
    return { ...written, alias: alias.text };
  }
  return { ...written, alias: impliedAlias(written.expression, cursor.alias) ?? `$${index + 1}` };
}

function impliedAlias(expression: Expression, root: string | undefined): string | undefined {
  if (expression.kind !== 'path') return undefined;
  const last = expression.steps[expression.steps.length - 1];
  if (last === undefined) return root;
  return typeof last === 'string' ? last : undefined;
}

function parseFrom(cursor: Cursor): void {
  if (cursor.alias === undefined) return;
  cursor.expect('FROM');
  const root = cursor.next();
  if (root.kind !== 'name') cursor.fail();
  if (cursor.accept('AS') || (cursor.peek().kind === 'name' && cursor.peek().text === cursor.alias)) cursor.next();
}

function parseGroupBy(cursor: Cursor): readonly Written[] {
  if (!cursor.accept('GROUP')) return [];
  cursor.expect('BY');
  const terms: Written[] = [];
  do terms.push(parseWritten(cursor));
  while (cursor.accept(','));
  return terms;
}

function parseOrderBy(cursor: Cursor): readonly OrderTerm[] {
  if (!cursor.accept('ORDER')) return [];
  cursor.expect('BY');
  const terms: OrderTerm[] = [];
  do {
    const written = parseWritten(cursor);
    if (written.expression.kind !== 'path')
      cursor.fail('Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.');
    const descending = cursor.accept('DESC');
    if (!descending) cursor.accept('ASC');
    terms.push({ ...written, descending });
  } while (cursor.accept(','));
  return terms;
}

function parseLimit(cursor: Cursor): Query['limit'] {
  if (!cursor.accept('OFFSET')) return undefined;
  const offset = parseAmount(cursor);
  cursor.expect('LIMIT');
  return { offset, count: parseAmount(cursor) };
}
