/** Counts operations and modelled request units by container. */
import type { Answer } from './exchange.js';
import type { Operation } from './operations.js';

export interface Counters {
  count(container: string, operation: Operation, answer: Pick<Answer, 'status' | 'charge'>): void;
  read(): Record<string, number>;
}

/**
 * Counters named `<container>/<operation>`, `<container>/<operation>/<status>` for refusals, and
 * `<container>/modelledRequestUnits`. Operations outside a container are counted under `account`.
 */
export function createCounters(): Counters {
  const totals = new Map<string, number>();
  const add = (name: string, amount: number): void => {
    totals.set(name, (totals.get(name) ?? 0) + amount);
  };
  return {
    count(container, operation, { status, charge }) {
      const place = container === '' ? 'account' : container;
      add(`${place}/${operation}`, 1);
      add(`${place}/modelledRequestUnits`, charge);
      if (status >= 400) add(`${place}/${operation}/${status}`, 1);
    },
    read: () => Object.fromEntries(totals),
  };
}
