import { app } from '@azure/functions';
import { admissionDeps, operatorDeps } from '../services.js';
import { operate, operatorVerbs, setIntake, showOrder } from './operate.js';

app.http('operator-show', {
  methods: ['GET'],
  authLevel: 'function',
  route: 'orders/{orderId}',
  handler: async (request, context) => {
    const { status, json } = await showOrder(request.params['orderId'] ?? '', operatorDeps(context));
    return { status, jsonBody: json };
  },
});

for (const verb of operatorVerbs) {
  app.http(`operator-${verb}`, {
    methods: ['POST'],
    authLevel: 'function',
    route: `orders/{orderId}/${verb}`,
    handler: async (request, context) => {
      const body = await request.json().catch(() => undefined);
      const orderId = request.params['orderId'] ?? '';
      const { status, json } = await operate(verb, { orderId, body }, operatorDeps(context));
      return { status, jsonBody: json };
    },
  });
}

for (const [name, isPaused] of [
  ['pause', true],
  ['resume', false],
] as const) {
  app.http(`operator-intake-${name}`, {
    methods: ['POST'],
    authLevel: 'function',
    route: `intake/${name}`,
    handler: async (request, context) => {
      const body = await request.json().catch(() => undefined);
      const { status, json } = await setIntake(isPaused, body, admissionDeps(context));
      return { status, jsonBody: json };
    },
  });
}
