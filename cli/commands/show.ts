/** `show`: the record of one order. */
import type { Command } from '../command.js';
import { createOrderApi, unknownOrder } from '../orders/order-api.js';
import { viewRecord } from '../orders/record-view.js';

export const show: Command = {
  summary: 'show the record of an order: state, steps, budget, history',
  usage: `show <orderId> [--json]

  --json   the record as the HTTP API gives it`,
  options: { json: { type: 'boolean' } },
  positionals: { min: 1, max: 1 },
  async run({ positionals: [orderId = ''], options }, { endpoints, screen }) {
    const api = createOrderApi(endpoints.app());
    if (options.flag('json')) {
      const raw = await api.findRaw(orderId);
      if (raw === undefined) throw unknownOrder(orderId);
      screen.print(JSON.stringify(raw, null, 2));
      return 0;
    }
    const record = await api.find(orderId);
    if (record === undefined) throw unknownOrder(orderId);
    for (const line of viewRecord(record, screen)) screen.print(line);
    return 0;
  },
};
