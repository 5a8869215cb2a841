import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertNames, eventNames } from '../../functions/telemetry/events.js';
import { projectRoot } from './support/bicep.js';
import { at, deployments, resourceOf, resourcesOf, topology } from './support/resources.js';

const logAlerts = resourcesOf('default', 'Microsoft.Insights/scheduledQueryRules');
const metricAlerts = resourcesOf('default', 'Microsoft.Insights/metricAlerts');
const everyAlert = [...logAlerts, ...metricAlerts];
const sources = readdirSync(join(projectRoot, 'functions'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(projectRoot, 'functions', file), 'utf8'))
  .join('\n');

function queryOf(alert: unknown): string {
  return String(at(alert, 'properties.criteria.allOf.0.query'));
}

describe('the alerts', () => {
  it.each([
    'order-in-error',
    'compensation-failed',
    'order-conflict',
    'retry-budget-exhausted',
    'recovery-impossible',
    'malformed-record',
    'status-undeliverable',
    'supervisor-silent',
    'starter-silent',
    'audit-silent',
    'dead-letters',
    'status-dead-letters',
    'order-backlog',
    'pending-backlog',
    'intake-closed',
    'oldest-expired-record',
    'oldest-pending-record',
    'service-bus-throttled',
    'cosmos-db-throttled',
  ])('watch for %s', (name) => {
    expect(everyAlert.map((alert) => alert.name)).toContain(name);
  });

  it('look for events and fields that the app really emits', () => {
    for (const alert of logAlerts) {
      const [, kind, signal] = /startswith '\{"(event|alert)":"([a-z-]+)"'/.exec(queryOf(alert)) ?? [];
      const names: readonly string[] = kind === 'alert' ? alertNames : eventNames;
      expect(names, alert.name).toContain(signal);
      for (const [, field] of queryOf(alert).matchAll(/data\.(\w+)/g)) {
        expect(sources.includes(String(field)), `${alert.name}: ${String(field)}`).toBe(true);
      }
    }
  });

  it('leave no alert of the app unwatched', () => {
    for (const name of alertNames) {
      expect(
        logAlerts.map(queryOf).some((query) => query.includes(`{"alert":"${name}"`)),
        name,
      ).toBe(true);
    }
  });

  it('do not flap: what happened stays, what lasts must last for several evaluations (A1)', () => {
    for (const alert of logAlerts) {
      const periods = Number(at(alert, 'properties.criteria.allOf.0.failingPeriods.minFailingPeriodsToAlert'));
      const resolvesItself = at(alert, 'properties.autoMitigate') === true;
      if (resolvesItself) expect(periods, alert.name).toBeGreaterThan(1);
      else expect(at(alert, 'properties.muteActionsDuration'), alert.name).toBe('PT1H');
    }
  });

  it('name no order and group by none (A2)', () => {
    for (const alert of everyAlert) {
      expect(JSON.stringify(alert.properties), alert.name).not.toMatch(/orderId|instanceId|\bby\b data/i);
    }
  });

  it('say what to do', () => {
    for (const alert of everyAlert) {
      expect(String(at(alert, 'properties.description')).length, alert.name).toBeGreaterThan(60);
    }
  });

  it('fire although the log table does not exist yet at the first deployment', () => {
    for (const alert of logAlerts) expect(at(alert, 'properties.skipQueryValidation'), alert.name).toBe(true);
  });

  it('see dead letters where they are: active in the queues they are forwarded to', () => {
    const alert = metricAlerts.find((item) => item.name === 'dead-letters');
    const criterion = at(alert, 'properties.criteria.allOf.0');
    expect(at(criterion, 'metricName')).toBe('ActiveMessages');
    const { queues, deadLetterQueue } = topology.serviceBus;
    expect(at(criterion, 'dimensions.0.values')).toEqual(
      queues
        .filter((queue) => queue.deadLetterQueue === true)
        .map(({ name }) => `${name}${deadLetterQueue.nameSuffix}`),
    );
  });

  it('reach the action group, which mails the given addresses', () => {
    for (const deployment of deployments) {
      const group = resourceOf(deployment, 'Microsoft.Insights/actionGroups');
      const emails = at(group, 'properties.emailReceivers') as readonly object[];
      expect(emails).toHaveLength(deployment === 'default' ? 0 : 1);
      for (const alert of resourcesOf(deployment, 'Microsoft.Insights/scheduledQueryRules')) {
        expect(at(alert, 'properties.actions.actionGroups')).toEqual([group.id]);
      }
      for (const alert of resourcesOf(deployment, 'Microsoft.Insights/metricAlerts')) {
        expect(at(alert, 'properties.actions')).toEqual([{ actionGroupId: group.id }]);
      }
    }
  });
});

describe('the workbook', () => {
  it('asks only for events that the app emits', () => {
    const workbook = String(at(resourceOf('default', 'Microsoft.Insights/workbooks'), 'properties.serializedData'));
    const asked = [...workbook.matchAll(/tostring\(data\.(?:event|alert)\) (?:==|in) [^\\]*(\\"[^|)]*\\")/g)];
    expect(asked.length).toBeGreaterThan(10);
    const names: readonly string[] = [...eventNames, ...alertNames];
    for (const [, list] of asked) {
      for (const [, name] of String(list).matchAll(/\\"([a-z-]+)\\"/g)) expect(names).toContain(name);
    }
  });
});

describe('the budget', () => {
  it('mails before it is spent, on request', () => {
    const notices = at(resourceOf('production', 'Microsoft.Consumption/budgets'), 'properties.notifications');
    expect(Object.keys(notices as object)).toEqual(['Actual50', 'Actual75', 'Actual90', 'Forecasted100']);
  });
});
