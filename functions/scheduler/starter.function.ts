import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { admissionDeps, purgeDeps, services, starterDeps } from '../services.js';
import { purgeHistory } from './purge-history.js';
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

app.timer('history-purge', {
  schedule: '%HISTORY_PURGE_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: (_timer, context) => purgeHistory(purgeDeps(context)),
});
