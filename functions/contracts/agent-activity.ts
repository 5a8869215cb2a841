/** What an agent that is an activity of the scheduler's app is called with: ids only, it finds the rest itself (T78). */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';
import { timestampSchema } from './timestamp.js';

export const agentActivityInputSchema = z.object({
  orderId: orderIdSchema,
  requestId: z.string(),
  replyToken: z.guid(),
  /** Takes the place of the step's deadline if the runtime was late to call the activity. */
  completeBy: timestampSchema.optional(),
});

export type AgentActivityInput = z.infer<typeof agentActivityInputSchema>;
