/** What an agent that is an activity of the scheduler's app is called with: ids only, it finds the rest itself (T78). */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';

export const agentActivityInputSchema = z.object({
  orderId: orderIdSchema,
  requestId: z.string(),
  replyToken: z.guid(),
});

export type AgentActivityInput = z.infer<typeof agentActivityInputSchema>;
