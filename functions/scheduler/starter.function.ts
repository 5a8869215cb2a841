import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { admissionDeps, purgeDeps, services, starterDeps } from '../services.js';
import { purgeHistory } from './purge-history.js';
import { runStarter } from './run-starter.js';
import type { StarterHeartbeat } from './run-starter.js';

const heartbeat: StarterHeartbeat = { at: undefined };

app.timer('starter', {
  schedule: '%STARTER_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: async (_timer, context) => {
    const { MAX_IN_FLIGHT: maxInFlight } = services().config;
    const deps = { admission: admissionDeps(context), starter: starterDeps(context), maxInFlight };
    await runStarter(deps, heartbeat);
  },
});

app.timer('history-purge', {
  schedule: '%HISTORY_PURGE_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: (_timer, context) => purgeHistory(purgeDeps(context)),
});
