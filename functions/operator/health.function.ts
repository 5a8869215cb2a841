import { setTimeout as delay } from 'node:timers/promises';
import { app } from '@azure/functions';
import { startProblems } from '../config/start-problems.js';
import { services } from '../services.js';
import { checkHealth } from './check-health.js';

app.http('health', {
  methods: ['GET'],
  authLevel: 'function',
  route: 'health',
  handler: async () => {
    const { status, json } = await checkHealth({
      settingProblems: startProblems,
      admission: () => services().admission,
      wait: (ms) => delay(ms, undefined, { ref: false }),
    });
    return { status, jsonBody: json };
  },
});
