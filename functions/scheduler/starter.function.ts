import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { admissionDeps, services, starterDeps } from '../services.js';
import { refreshAdmission } from './refresh-admission.js';
import { startPending } from './start-pending.js';

app.timer('starter', {
  schedule: '%STARTER_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: async (_timer, context) => {
    const deps = starterDeps(context);
    const { mode, pending, inFlight } = await refreshAdmission(admissionDeps(context));
    const run = await startPending(services().config.MAX_IN_FLIGHT - inFlight, deps);
    const hasNews = run.oldestPendingMs > 0 || mode !== 'open';
    if (hasNews) deps.telemetry.event('starter-run', { ...run, admission: mode, pending, inFlight });
  },
});
