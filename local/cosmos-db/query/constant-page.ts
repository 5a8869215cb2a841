/** Queries without FROM: one result, whatever is stored. */
import { compileFilter } from './evaluate.js';
import type { Page, PageRequest } from './page.js';
import { newWork } from './page.js';
import { compileSelection } from './selection.js';

/** Computes the result. */
export function executeConstant({ query, scope }: PageRequest): Page {
  const passes = compileFilter(query.where?.expression, scope)({});
  const value = passes ? compileSelection(query.selection, scope)({}) : undefined;
  return { items: value === undefined ? [] : [JSON.stringify(value)], work: newWork() };
}
