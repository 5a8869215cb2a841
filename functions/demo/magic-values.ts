/**
 * Values in an order that steer the simulated remote services, as payment providers' test cards do. README and the demo
 * name the same ones.
 */

/** How a simulated remote service behaves for a call. */
export type Behaviour = 'ok' | 'refuse' | 'fail' | 'hang' | 'hangOnce' | 'unavailableOnce';

/** Payment tokens. */
const paymentTokens = magic({
  tok_declined: 'refuse',
  tok_closed_account: 'fail',
  tok_hang: 'hang',
  tok_hang_once: 'hangOnce',
  tok_unavailable_once: 'unavailableOnce',
});

/** SKUs. */
const skus = magic({ 'OUT-OF-STOCK': 'refuse', 'HANG-ONCE': 'hangOnce', HANG: 'hang' });

/** Postal codes. */
const postalCodes = magic({
  'NO-CARRIER': 'refuse',
  CLOSED: 'fail',
  'HANG-ONCE': 'hangOnce',
  HANG: 'hang',
});

/** The behaviour that a call's body asks for; an undo always succeeds. */
export function behaviourOf(service: string, body: Readonly<Record<string, unknown>>): Behaviour {
  switch (service) {
    case 'payment':
      return paymentTokens.get(String(body['paymentToken'])) ?? 'ok';
    case 'inventory':
      return firstMagic(linesOf(body).map(({ sku }) => skus.get(String(sku))));
    case 'shipping':
      return postalCodes.get(postalCodeOf(body)) ?? 'ok';
    default:
      return 'ok';
  }
}

/** A map, because every object has more names than its own: `constructor` is no magic value. */
function magic(values: Readonly<Record<string, Behaviour>>): ReadonlyMap<string, Behaviour> {
  return new Map(Object.entries(values));
}

function firstMagic(behaviours: readonly (Behaviour | undefined)[]): Behaviour {
  return behaviours.find((behaviour) => behaviour !== undefined) ?? 'ok';
}

function linesOf(body: Readonly<Record<string, unknown>>): readonly { readonly sku?: unknown }[] {
  const { lines } = body;
  return Array.isArray(lines) ? (lines as { sku?: unknown }[]) : [];
}

function postalCodeOf(body: Readonly<Record<string, unknown>>): string {
  const address = body['shippingAddress'] as { postalCode?: unknown } | undefined;
  return String(address?.postalCode);
}
