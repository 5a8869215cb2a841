/**
 * The gateway's query plan: how the client has to combine what each physical partition answers.
 *
 * Invariant
 * N1 Combining the answers to `rewrittenQuery` as the plan says equals the query over all documents.
 */
import { badQuery, notSupported } from '../wire-errors.js';
import { hasAggregate } from './aggregates.js';
import { amountOf } from './amount.js';
import type { AggregateName, Expression, Query, SelectItem } from './ast.js';
import type { PhysicalPartition } from '../store/physical-partitions.js';
import type { Scope } from './scope.js';
import { selectionExpression } from './selection.js';
import type { Json, JsonObject } from './values.js';

type AggregateType = 'Count' | 'Sum' | 'Min' | 'Max' | 'Average';

const TYPES: Readonly<Record<AggregateName, AggregateType>> = {
  COUNT: 'Count',
  SUM: 'Sum',
  MIN: 'Min',
  MAX: 'Max',
  AVG: 'Average',
};

/** True when the gateway cannot answer the query over all partitions by itself. */
export function needsPlan(query: Query): boolean {
  return (
    query.orderBy.length > 0 ||
    query.groupBy.length > 0 ||
    query.distinct ||
    query.top !== undefined ||
    query.limit !== undefined ||
    hasAggregate(selectionExpression(query.selection))
  );
}

/** True for groups, and for an aggregate over everything. */
function aggregates(query: Query): boolean {
  return query.groupBy.length > 0 || hasAggregate(selectionExpression(query.selection));
}

/** The text of an aggregate's argument: between the brackets of `COUNT(…)`. */
function argumentText(text: string): string {
  return text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
}

/** What one partition yields for an aggregate. */
function partialAggregate(name: AggregateName, text: string): string {
  const argument = argumentText(text);
  if (name === 'AVG') return `{"item": {"sum": SUM(${argument}), "count": COUNT(${argument})}}`;
  if (name !== 'MIN' && name !== 'MAX') return `{"item": ${name}(${argument})}`;
  const field = name.toLowerCase();
  return `{"item": ${name}(${argument}), "item2": {"${field}": ${name}(${argument}), "count": COUNT(${argument})}}`;
}

function tail(query: Query): string {
  const where = query.where === undefined ? '' : ` WHERE ${query.where.text}`;
  const groups = query.groupBy.length === 0 ? '' : ` GROUP BY ${query.groupBy.map(({ text }) => text).join(', ')}`;
  return ` FROM ${query.alias ?? ''}${where}${groups}`;
}

/** The part of the plan that a clause decides. */
interface Rewrite {
  readonly rewrittenQuery: string;
  readonly aggregates?: readonly AggregateType[];
  readonly groupByAliasToAggregateType?: JsonObject;
  readonly groupByAliases?: readonly string[];
}

function aggregateOf(expression: Expression): AggregateName | undefined {
  if (expression.kind === 'aggregate') return expression.name;
  if (hasAggregate(expression))
    throw notSupported('An aggregate function inside an expression of a cross partition query');
  return undefined;
}

/** `{"a": c.a, "n": {"item": COUNT(1)}}` for the columns of a list. */
function payloadOf(items: readonly SelectItem[]): string {
  const columns = items.map(({ alias, expression, text }) => {
    const aggregate = aggregateOf(expression);
    return `${JSON.stringify(alias)}: ${aggregate === undefined ? text : partialAggregate(aggregate, text)}`;
  });
  return `{${columns.join(', ')}}`;
}

function rewriteList(query: Query, items: readonly SelectItem[]): Rewrite {
  const groups = query.groupBy.map(({ text }) => `{"item": ${text}}`).join(', ');
  const types = items.map(({ alias, expression }) => {
    const aggregate = aggregateOf(expression);
    return [alias, aggregate === undefined ? null : TYPES[aggregate]] as const;
  });
  return {
    rewrittenQuery: `SELECT [${groups}] AS groupByItems, ${payloadOf(items)} AS payload${tail(query)}`,
    groupByAliases: items.map(({ alias }) => alias),
    groupByAliasToAggregateType: Object.fromEntries(types),
  };
}

function rewriteValue(query: Query, expression: Expression, text: string): Rewrite {
  const aggregate = aggregateOf(expression);
  const item = aggregate === undefined ? text : `[${partialAggregate(aggregate, text)}]`;
  const aggregates = aggregate === undefined ? [] : [TYPES[aggregate]];
  if (query.groupBy.length === 0) return { rewrittenQuery: `SELECT VALUE ${item}${tail(query)}`, aggregates };
  const groups = query.groupBy.map((group) => `{"item": ${group.text}}`).join(', ');
  return { rewrittenQuery: `SELECT [${groups}] AS groupByItems, ${item} AS payload${tail(query)}`, aggregates };
}

function rewriteAggregates(query: Query): Rewrite {
  const { selection } = query;
  if (selection.kind === 'all') throw badQuery('SELECT * is not allowed with GROUP BY.');
  return selection.kind === 'value'
    ? rewriteValue(query, selection.value.expression, selection.value.text)
    : rewriteList(query, selection.items);
}

/** The columns of a plain query, as SELECT has them. */
function columnsText(query: Query): string {
  const { selection } = query;
  if (selection.kind === 'all') return '*';
  if (selection.kind === 'value') return `VALUE ${selection.value.text}`;
  return selection.items.map(({ text, alias }) => (alias.startsWith('$') ? text : `${text} AS ${alias}`)).join(', ');
}

function limitText(query: Query, scope: Scope): { readonly top: string; readonly limit: string } {
  if (query.top !== undefined) return { top: `TOP ${amountOf(query.top, scope)} `, limit: '' };
  if (query.limit === undefined) return { top: '', limit: '' };
  const reach = amountOf(query.limit.offset, scope) + amountOf(query.limit.count, scope);
  return { top: '', limit: ` OFFSET 0 LIMIT ${reach}` };
}

function orderedPayload(query: Query): string {
  const { selection } = query;
  if (selection.kind === 'all') return query.alias ?? '';
  if (selection.kind === 'value') return selection.value.text;
  return payloadOf(selection.items);
}

/** Each partition yields the sort values with the payload; the client merges and puts its filter into the placeholder. */
function rewriteOrdered(query: Query, scope: Scope): Rewrite {
  const { alias = '' } = query;
  const { top, limit } = limitText(query, scope);
  const items = query.orderBy.map(({ text }) => `{"item": ${text}}`).join(', ');
  const where = query.where === undefined ? '' : `(${query.where.text}) AND `;
  const terms = query.orderBy.map(({ text, descending }) => `${text}${descending ? ' DESC' : ' ASC'}`).join(', ');
  return {
    rewrittenQuery:
      `SELECT ${query.distinct ? 'DISTINCT ' : ''}${top}${alias}._rid, [${items}] AS orderByItems, ${orderedPayload(query)} AS payload FROM ${alias} ` +
      `WHERE ${where}({documentdb-formattableorderbyquery-filter}) ORDER BY ${terms}${limit}`,
  };
}

function rewritePlain(query: Query, scope: Scope): Rewrite {
  const { top, limit } = limitText(query, scope);
  return {
    rewrittenQuery: `SELECT ${query.distinct ? 'DISTINCT ' : ''}${top}${columnsText(query)}${tail(query)}${limit}`,
  };
}

function rewrite(query: Query, scope: Scope): Rewrite {
  if (aggregates(query)) return rewriteAggregates(query);
  return query.orderBy.length > 0 ? rewriteOrdered(query, scope) : rewritePlain(query, scope);
}

function checkPlannable(query: Query): void {
  if (query.distinct && query.orderBy.length > 0)
    throw notSupported('DISTINCT with ORDER BY in a cross partition query');
  if (query.distinct && aggregates(query)) {
    throw notSupported('DISTINCT with an aggregate in a cross partition query');
  }
}

/** Where the partitions to ask end: a query without FROM has one result, so one partition answers it. */
function endOf(query: Query, [first]: readonly PhysicalPartition[]): string {
  return (query.alias === undefined ? first?.maxExclusive : undefined) ?? 'FF';
}

/** The plan as the service answers it; `partitions` are those of the container, in order. */
export function queryPlan(query: Query, scope: Scope, partitions: readonly PhysicalPartition[]): Json {
  checkPlannable(query);
  const rewritten = needsPlan(query) ? rewrite(query, scope) : { rewrittenQuery: '' };
  // An aggregate over everything is one result: its order means nothing, and clients cannot merge both.
  const orderBy = aggregates(query) ? [] : query.orderBy;
  return {
    partitionedQueryExecutionInfoVersion: 2,
    queryInfo: {
      distinctType: query.distinct ? 'Unordered' : 'None',
      top: query.top === undefined ? null : amountOf(query.top, scope),
      offset: query.limit === undefined ? null : amountOf(query.limit.offset, scope),
      limit: query.limit === undefined ? null : amountOf(query.limit.count, scope),
      orderBy: orderBy.map(({ descending }) => (descending ? 'Descending' : 'Ascending')),
      orderByExpressions: orderBy.map(({ text }) => text),
      groupByExpressions: query.groupBy.map(({ text }) => text),
      groupByAliases: rewritten.groupByAliases ?? [],
      aggregates: rewritten.aggregates ?? [],
      groupByAliasToAggregateType: rewritten.groupByAliasToAggregateType ?? {},
      rewrittenQuery: rewritten.rewrittenQuery,
      hasSelectValue: query.selection.kind === 'value',
      dCountInfo: null,
      hasNonStreamingOrderBy: false,
    },
    queryRanges: [{ min: '', max: endOf(query, partitions), isMinInclusive: true, isMaxInclusive: false }],
  };
}
