import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { hintQueueName } from '../contracts/supervisor-hint.js';
import { onQueue } from '../on-queue.js';
import { auditDeps, supervisorDeps } from '../services.js';
import { auditRecords } from './audit-records.js';
import { handleHint } from './handle-hint.js';
import { recoverExpired } from './recover-expired.js';

app.timer('supervisor', {
  schedule: '%SUPERVISOR_SCHEDULE%',
  extraInputs: [input.durableClient()],
  handler: async (_timer, context) => {
    await recoverExpired(supervisorDeps(context));
  },
});

app.timer('supervisor-audit', {
  schedule: '%SUPERVISOR_AUDIT_SCHEDULE%',
  handler: async (_timer, context) => {
    await auditRecords(auditDeps(context));
  },
});

onQueue('supervisor-hint', hintQueueName, (message, context) => handleHint(message.body, supervisorDeps(context)));
