/** Effects at the remote service, as its ledger counts them. */
import { z } from 'zod';
import { CommandError } from '../errors.js';

/** What a remote service has done for an order. */
export interface Effects {
  readonly done: number;
  /** Done and not undone. */
  readonly left: number;
}

/** Counts effects. */
export interface EffectCounter {
  of(orderId: string): Promise<Effects>;
}

const ledgerSchema = z.array(
  z.looseObject({
    service: z.string(),
    effect: z.looseObject({}).nullable(),
    undo: z.looseObject({}).nullable(),
    /** Keys of second effects. */
    furtherKeys: z.array(z.string()).default([]),
  }),
);

/**
 * Counts with `GET <address>/<orderId>`, in the form of the demo's ledger: a list with one entry for each service that
 * knows the order, `{service, effect, undo, furtherKeys}`.
 */
export function createLedgerCounter(address: string, service: string): EffectCounter {
  const base = address.replace(/\/+$/, '');
  return {
    async of(orderId) {
      const entries = ledgerSchema.safeParse(await getJson(`${base}/${orderId}`));
      if (!entries.success) throw new CommandError(`${base} answers no ledger: ${z.prettifyError(entries.error)}`);
      const entry = entries.data.find((each) => each.service === service);
      if (entry === undefined) return { done: 0, left: 0 };
      const done = (entry.effect === null ? 0 : 1) + entry.furtherKeys.length;
      return { done, left: entry.undo === null ? done : 0 };
    },
  };
}

async function getJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new CommandError(`The ledger answered ${response.status} to ${url}.`);
    return await response.json();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The ledger does not answer at ${url}: ${String(error)}`, { cause: error });
  }
}
