/**
 * Values in an order that steer the simulated remote services, as payment providers' test cards do. README and the demo
 * name the same ones.
 */

/** How a simulated remote service behaves for a call. */
export type Behaviour = 'ok' | 'refuse' | 'fail' | 'hang' | 'hangOnce' | 'unavailableOnce';

/** Payment tokens. */
const paymentTokens: Readonly<Record<string, Behaviour>> = {
  tok_declined: 'refuse',
  tok_closed_account: 'fail',
  tok_hang: 'hang',
  tok_hang_once: 'hangOnce',
  tok_unavailable_once: 'unavailableOnce',
};

/** SKUs. */
const skus: Readonly<Record<string, Behaviour>> = { 'OUT-OF-STOCK': 'refuse', 'HANG-ONCE': 'hangOnce', HANG: 'hang' };

/** Postal codes. */
const postalCodes: Readonly<Record<string, Behaviour>> = {
  'NO-CARRIER': 'refuse',
  CLOSED: 'fail',
  'HANG-ONCE': 'hangOnce',
  HANG: 'hang',
};

/** The behaviour that a call's body asks for; an undo always succeeds. */
export function behaviourOf(service: string, body: Readonly<Record<string, unknown>>): Behaviour {
  switch (service) {
    case 'payment':
      return paymentTokens[String(body['paymentToken'])] ?? 'ok';
    case 'inventory':
      return firstMagic(linesOf(body).map(({ sku }) => skus[String(sku)]));
    case 'shipping':
      return postalCodes[postalCodeOf(body)] ?? 'ok';
    default:
      return 'ok';
  }
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
