/** IS_DEFINED and its kin. All but IS_DEFINED are false for undefined, as in the service. */
import { isArray, isObject, isScalar } from '../values.js';
import type { FunctionTable } from './registry.js';
import { unary } from './registry.js';

export const TYPE_CHECKS: FunctionTable = {
  IS_DEFINED: unary((value) => value !== undefined),
  IS_NULL: unary((value) => value === null),
  IS_BOOL: unary((value) => typeof value === 'boolean'),
  IS_NUMBER: unary((value) => typeof value === 'number'),
  IS_INTEGER: unary((value) => Number.isSafeInteger(value)),
  IS_FINITE_NUMBER: unary((value) => typeof value === 'number' && Number.isFinite(value)),
  IS_STRING: unary((value) => typeof value === 'string'),
  IS_ARRAY: unary(isArray),
  IS_OBJECT: unary(isObject),
  IS_PRIMITIVE: unary((value) => value !== undefined && isScalar(value)),
};
