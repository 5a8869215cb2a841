/** `resubmit` and `compensate`: an operator decides about an order that automation has given up. */
import type { Command } from '../command.js';
import { UsageError } from '../errors.js';
import { createOrderApi } from '../orders/order-api.js';
import type { OperatorVerb } from '../orders/order-api.js';

/** The command of a verb. */
export function operatorCommand(verb: OperatorVerb, summary: string): Command {
  return {
    summary,
    usage: `${verb} <orderId> --reason <text>

  --reason <text>   why; it stays on the order's record`,
    options: { reason: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ positionals: [orderId = ''], options }, { endpoints, screen }) {
      const reason = options.text('reason');
      if (reason === undefined) throw new UsageError('--reason is missing.');
      const record = await createOrderApi(endpoints.app()).operate(verb, orderId, reason);
      screen.print(`${orderId} is ${record.processState} now. Follow it: npm run cli -- watch ${orderId}`);
      return 0;
    },
  };
}
