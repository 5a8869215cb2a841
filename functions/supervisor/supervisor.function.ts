import { app } from '@azure/functions';
import { receive } from '../azure/service-bus-trigger.js';
import { hintQueueName } from '../contracts/supervisor-hint.js';
import { supervisorDeps, triggerDeps } from '../services.js';
import { auditRecords } from './audit-records.js';
import { handleHint } from './handle-hint.js';
import { recoverExpired } from './recover-expired.js';

app.timer('supervisor', {
  schedule: '%SUPERVISOR_SCHEDULE%',
  handler: async (_timer, context) => {
    await recoverExpired(supervisorDeps(context));
  },
});

app.timer('supervisor-audit', {
  schedule: '%SUPERVISOR_AUDIT_SCHEDULE%',
  handler: async (_timer, context) => {
    await auditRecords(supervisorDeps(context));
  },
});

app.serviceBusQueue('supervisor-hint', {
  queueName: hintQueueName,
  connection: 'ServiceBusConnection',
  handler: (body, context) =>
    receive(
      { queue: hintQueueName, body, context },
      (message) => handleHint(message.body, supervisorDeps(context)),
      triggerDeps(context),
    ),
});
