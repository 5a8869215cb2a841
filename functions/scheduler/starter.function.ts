import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { starterDeps } from '../services.js';
import { startPending } from './start-pending.js';

app.timer('starter', {
  schedule: '%STARTER_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: async (_timer, context) => {
    const deps = starterDeps(context);
    const { started, lost, released } = await startPending(deps);
    if (started + lost + released > 0) deps.telemetry.event('starter-run', { started, lost, released });
  },
});
