import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { admissionDeps, purgeDeps, services, starterDeps } from '../services.js';
import { purgeHistory } from './purge-history.js';
import { runStarter } from './run-starter.js';

app.timer('starter', {
  schedule: '%STARTER_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: async (_timer, context) => {
    const { config, jobs } = services();
    const { MAX_IN_FLIGHT: maxInFlight } = config;
    await runStarter({ admission: admissionDeps(context), starter: starterDeps(context), jobs, maxInFlight });
  },
});

app.timer('history-purge', {
  schedule: '%HISTORY_PURGE_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: (_timer, context) => purgeHistory(purgeDeps(context)),
});
