/** SELECT: from a document to a result. */
import type { Expression, Selection } from './ast.js';
import { buildObject, compile } from './evaluate.js';
import type { Scope } from './scope.js';
import type { JsonObject, Value } from './values.js';

/** SELECT as one expression. */
export function selectionExpression(selection: Selection): Expression {
  if (selection.kind === 'all') return { kind: 'path', steps: [] };
  if (selection.kind === 'value') return selection.value.expression;
  return {
    kind: 'object',
    entries: selection.items.map(({ alias, expression }) => ({ key: alias, value: expression })),
  };
}

/** True for `SELECT *` and `SELECT VALUE c`: the stored text is the result. */
export function yieldsWholeDocument(selection: Selection): boolean {
  const expression = selectionExpression(selection);
  return expression.kind === 'path' && expression.steps.length === 0;
}

/** Compiles SELECT; undefined means that the document yields no result. */
export function compileSelection(selection: Selection, scope: Scope): (document: JsonObject) => Value {
  if (selection.kind !== 'list') return compile(selectionExpression(selection), scope);
  const columns = selection.items.map(({ alias, expression }) => [alias, compile(expression, scope)] as const);
  return (document) => buildObject(columns, document);
}

function withSortedNames(_: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Equal values have equal keys. */
export function distinctKey(value: Value): string {
  return JSON.stringify(value, withSortedNames);
}
