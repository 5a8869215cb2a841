import { app } from 'durable-functions';
import { advanceDeps, services } from '../services.js';
import { advanceAttempt } from './advance.js';
import { advanceRequestSchema, durableNames, hintInputSchema } from './attempt-messages.js';
import { hintSupervisor } from './hint-supervisor.js';
import { orderOrchestrator } from './orchestrator.js';

app.orchestration(durableNames.orchestrator, orderOrchestrator);

app.activity(durableNames.advance, {
  handler: (request, context) => advanceAttempt(advanceRequestSchema.parse(request), advanceDeps(context)),
});

app.activity(durableNames.hintSupervisor, {
  handler: (hint) => {
    const { sender, config } = services();
    return hintSupervisor(hintInputSchema.parse(hint), sender, config.SUPERVISOR_GRACE_MS);
  },
});
