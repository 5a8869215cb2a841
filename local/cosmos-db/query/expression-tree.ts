/** Looks at expressions without evaluating them. */
import type { Expression } from './ast.js';

/** True when the value is the same for every document. */
export function isConstant(expression: Expression): boolean {
  switch (expression.kind) {
    case 'path':
    case 'aggregate':
      return false;
    case 'literal':
    case 'undefined':
    case 'parameter':
      return true;
    case 'call':
      return expression.name !== 'RAND' && expression.arguments.every(isConstant);
    default:
      return childrenOf(expression).every(isConstant);
  }
}

/** The expressions directly below. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'unary':
      return [expression.operand];
    case 'binary':
      return [expression.left, expression.right];
    case 'in':
      return [expression.operand, ...expression.choices];
    case 'between':
      return [expression.operand, expression.low, expression.high];
    default:
      return childrenOfOthers(expression);
  }
}

function childrenOfOthers(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'like':
      return expression.escape === undefined
        ? [expression.operand, expression.pattern]
        : [expression.operand, expression.pattern, expression.escape];
    case 'conditional':
      return [expression.test, expression.then, expression.otherwise];
    case 'member':
      return [expression.object, expression.key];
    case 'call':
      return expression.arguments;
    case 'aggregate':
      return [expression.argument];
    case 'array':
      return expression.items;
    case 'object':
      return expression.entries.map((entry) => entry.value);
    default:
      return [];
  }
}
