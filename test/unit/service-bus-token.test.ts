import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyToken } from '../../local/service-bus/auth/shared-access-signature.js';

const rule = { keyName: 'k', key: 'secret', rights: ['Send', 'Listen'] } as const;
const audience = 'sb://127.0.0.1:5672/orders';
const now = Date.UTC(2026, 0, 1);

function verify(resource: string) {
  const [sr, se] = [encodeURIComponent(resource), String(now / 1000 + 60)];
  const sig = encodeURIComponent(createHmac('sha256', rule.key).update(`${sr}\n${se}`).digest('base64'));
  const token = `SharedAccessSignature sr=${sr}&sig=${sig}&se=${se}&skn=${rule.keyName}`;
  return verifyToken([rule], { token, audience, now }).kind;
}

describe('a token', () => {
  it.each([
    ['as the JavaScript client writes it', 'sb://127.0.0.1:5672/orders'],
    ['as the .NET client writes it: another scheme, no port', 'amqp://127.0.0.1/orders'],
    ['for the whole namespace', 'sb://127.0.0.1:5672/'],
    ['in capitals', 'SB://127.0.0.1:5672/ORDERS'],
  ])('is taken for its queue, %s', (_form, resource) => {
    expect(verify(resource)).toBe('granted');
  });

  it.each(['sb://127.0.0.1:5672/other', 'sb://127.0.0.1:5672/order', 'sb://elsewhere:5672/orders'])(
    'for %s is refused at another queue or host',
    (resource) => {
      expect(verify(resource)).toBe('refused');
    },
  );
});
