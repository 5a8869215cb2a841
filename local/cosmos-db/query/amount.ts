/** The numbers of TOP, OFFSET and LIMIT: written out or given as a parameter. */
import { badQuery } from '../wire-errors.js';
import type { Amount } from './ast.js';
import type { Scope } from './scope.js';
import type { Value } from './values.js';

/** The service reads them as 32-bit integers. */
const MAX_AMOUNT = 2_147_483_647;

/** The number, if it is one that the service takes. */
export function checkAmount(value: Value): number {
  const isAmount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_AMOUNT;
  if (!isAmount) throw badQuery(`TOP, OFFSET and LIMIT need a whole number from 0 to ${MAX_AMOUNT}.`);
  return value;
}

/** The value of TOP, OFFSET or LIMIT. */
export function amountOf(amount: Amount, scope: Scope): number {
  return amount.kind === 'number' ? amount.value : checkAmount(scope.parameters[amount.name]);
}
