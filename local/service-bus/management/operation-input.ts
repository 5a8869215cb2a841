/** What a management operation works on. */
import type { BrokerContext } from '../context.js';
import type { Queue } from '../queue/queue.js';
import type { RequestBody } from './request-body.js';

export interface OperationInput {
  readonly context: BrokerContext;
  readonly queue: Queue;
  readonly body: RequestBody;
}
