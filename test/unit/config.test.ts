import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import sample from '../../local.settings.sample.json' with { type: 'json' };
import topology from '../../infra/topology.json' with { type: 'json' };
import hostFile from '../../host.json' with { type: 'json' };
import { lockRenewalMs } from '../../functions/config/contradictions.js';
import { parseConfig, settingsSchema } from '../../functions/config/config.js';

const values: Readonly<Record<string, string>> = sample.Values;

/** What only a deployment to Azure sets. */
const identitySettings = ['ServiceBusConnection__fullyQualifiedNamespace', 'AZURE_CLIENT_ID'];

/** What the Functions runtime reads, not our code. */
const runtimeSettings = ['FUNCTIONS_WORKER_RUNTIME', 'AzureWebJobsStorage'];

function problemsOf(changes: Readonly<Record<string, string | undefined>>): string {
  try {
    parseConfig({ ...values, ...changes });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('local.settings.sample.json', () => {
  it('holds every setting but those of an identity, and nothing unknown', () => {
    const known = Object.keys(settingsSchema.shape).filter((name) => !identitySettings.includes(name));
    expect(Object.keys(values).sort()).toEqual([...known, ...runtimeSettings].sort());
  });

  it('lets the app start', () => {
    const config = parseConfig(values);
    expect(config.APPLICATIONS).toEqual(topology.applications.map(({ name }) => name));
  });

  it('says nothing of localhost, whose address depends on the machine (C65)', () => {
    expect(JSON.stringify(sample)).not.toContain('localhost');
  });

  it('spells the emulator’s switch as the SDK wants it (C64)', () => {
    expect(values['ServiceBusConnection']).toMatch(/;UseDevelopmentEmulator=true;?$/);
  });

  it('gives every timer of the app its schedule (C54)', () => {
    const sources = ['scheduler/starter', 'supervisor/supervisor'].map((file) =>
      readFileSync(new URL(`../../functions/${file}.function.ts`, import.meta.url), 'utf8'),
    );
    const schedules = sources.flatMap((source) => [...source.matchAll(/'%(\w+)%'/g)].map(([, name]) => name ?? ''));
    expect(schedules.length).toBeGreaterThan(1);
    for (const name of schedules) expect(values).toHaveProperty(name);
  });
});

describe('parseConfig', () => {
  it('reports everything that is wrong together, by the name of the setting', () => {
    const message = problemsOf({
      APPLICATIONS: undefined,
      ServiceBusConnection: undefined,
      COSMOS_ENDPOINT: 'ftp://somewhere',
      MAX_FAILURES: '0',
      STARTER_SCHEDULE: '*/5 * * * *',
      RETRY_BACKOFF_MS: '90000',
      DEMO_REMOTES_ENABLED: 'yes',
    });
    const names = [
      'APPLICATIONS',
      'ServiceBusConnection',
      'COSMOS_ENDPOINT',
      'MAX_FAILURES',
      'STARTER_SCHEDULE',
      'RETRY_MAX_BACKOFF_MS',
      'DEMO_REMOTES_ENABLED',
    ];
    for (const name of names) expect(message).toContain(`  ${name}: `);
    expect(message).toContain(`${names.length} setting(s)`);
  });

  it.each([undefined, ''])('says that a setting of %j is not set', (value) => {
    expect(problemsOf({ COSMOS_DATABASE: value })).toContain('COSMOS_DATABASE: is not set');
    expect(problemsOf({ PAYMENT_URL: value })).toContain('PAYMENT_URL: is not set');
  });

  it('never tells a value', () => {
    const secret = 'very-secret-4711';
    const wrong = Object.fromEntries(Object.keys(settingsSchema.shape).map((name) => [name, `${secret} ${name}`]));
    const message = problemsOf({ ...wrong, COSMOS_KEY: secret, ServiceBusConnection: secret });
    expect(message).not.toContain(secret);
    expect(message).toContain('COSMOS_ENDPOINT: ');
  });

  // C54
  it.each([
    '0 */1 * * * *',
    '*/10 * * * * *',
    '0 0 3 * * *',
    '0 30 9-17 * * MON-FRI',
    '0 0 0 1 jan *',
    '0,30 0 9,17 * * *',
    '0 10/20 * * * *',
  ])('takes the schedule "%s"', (schedule) => {
    expect(problemsOf({ SUPERVISOR_SCHEDULE: schedule })).toBe('');
  });

  // C54
  it.each([
    '*/5 * * * *',
    '',
    'often',
    '60 * * * * *',
    '0 0 24 * * *',
    '0 0 0 0 * *',
    '0 0 0 * 13 *',
    '0 * * * * 7',
    '5-1 * * * * *',
    '*/0 * * * * *',
    '1-2-3 * * * * *',
    '0 0 0 * * MOON',
    '0 0 0 * * ',
    '00:00:10',
    '0  * * * * *',
  ])('refuses the schedule "%s"', (schedule) => {
    expect(problemsOf({ SUPERVISOR_SCHEDULE: schedule })).toContain('SUPERVISOR_SCHEDULE: ');
  });

  it.each(['0', '101', '3.5', '-1', '1e2', ' 3', 'three', '99999999999999999999'])('refuses %j failures', (text) => {
    expect(problemsOf({ MAX_FAILURES: text })).toContain('MAX_FAILURES: expected a whole number from 1 to 100');
  });

  it.each(['-x', 'Web', 'a,,b', 'x'.repeat(60), '../x'])(
    'refuses the application %j, which no order could name',
    (name) => {
      expect(problemsOf({ APPLICATIONS: name })).toContain('APPLICATIONS');
    },
  );

  it('takes a namespace with managed identity instead of a connection string (C84, C85)', () => {
    const azure = { ServiceBusConnection: undefined, COSMOS_KEY: undefined, COSMOS_ENDPOINT: 'https://any.example/' };
    const host = { ServiceBusConnection__fullyQualifiedNamespace: 'ns.servicebus.windows.net' };
    const id = { AZURE_CLIENT_ID: '3f0e8a52-9c5b-4d3a-9a53-0b6c4e8f1a11' };
    expect(problemsOf({ ...azure, ...host, ...id })).toBe('');
  });

  it.each(['x', '-x.servicebus.windows.net', 'sb://ns.servicebus.windows.net', 'ns..net', 'ns.net/', 'a b.net'])(
    'refuses the namespace "%s", which is no host name',
    (namespace) => {
      const changes = { ServiceBusConnection: undefined, ServiceBusConnection__fullyQualifiedNamespace: namespace };
      expect(problemsOf(changes)).toContain('ServiceBusConnection__fullyQualifiedNamespace: expected a host name');
    },
  );

  it.each(['garbage', 'ns.servicebus.windows.net', 'Endpoint=sb://ns;', '@Microsoft.KeyVault(SecretUri=https://v/s)'])(
    'refuses the connection string "%s"',
    (connection) => {
      const message = problemsOf({ ServiceBusConnection: connection });
      expect(message).toContain('ServiceBusConnection: expected a connection string like Endpoint=sb://');
    },
  );

  it('refuses a connection string beside a namespace: triggers and senders would use different ones', () => {
    const both = { ServiceBusConnection__fullyQualifiedNamespace: 'ns.servicebus.windows.net' };
    expect(problemsOf(both)).toContain('ServiceBusConnection: expected not to be set together with');
  });

  it('refuses a plain address of the state store without a key, because no token is sent over it', () => {
    expect(problemsOf({ COSMOS_KEY: undefined })).toContain('COSMOS_ENDPOINT: expected an https address');
    expect(problemsOf({ COSMOS_KEY: 'no key!' })).toContain('COSMOS_KEY: expected a key in Base64');
  });

  it('refuses an application that is named twice', () => {
    expect(problemsOf({ APPLICATIONS: 'web-shop,web-shop' })).toContain('APPLICATIONS: expected each application once');
  });

  it.each([
    ['INTAKE_LOW_WATER', { INTAKE_LOW_WATER: '10', INTAKE_HIGH_WATER: '9' }],
    ['RETRY_MAX_BACKOFF_MS', { RETRY_BACKOFF_MS: '5000', RETRY_MAX_BACKOFF_MS: '4999' }],
    ['ORDER_LIFETIME_MS', { ORDER_LIFETIME_MS: '20000', STEP_DEADLINE_MS: '20001' }],
    ['AGENT_RETRY_DELAY_MS', { AGENT_RETRY_DELAY_MS: '4000', STEP_DEADLINE_MS: '4000' }],
    ['CLAIM_LEASE_MS', { CLAIM_LEASE_MS: '3600000', ORDER_LIFETIME_MS: '3600000' }],
    [
      'RETRY_BACKOFF_MS',
      { RETRY_BACKOFF_MS: '3600000', RETRY_MAX_BACKOFF_MS: '3600000', ORDER_LIFETIME_MS: '3600000' },
    ],
    ['EXTENDED_WAIT_MS', { EXTENDED_RETRIES: '1', EXTENDED_WAIT_MS: '3600000', MAX_CALLS_PER_STEP: '100' }],
    ['STEP_DEADLINE_MS', { STEP_DEADLINE_MS: '300001' }],
    ['UNRESOLVED_RETENTION_DAYS', { UNRESOLVED_RETENTION_DAYS: '364' }],
    ['MAX_CALLS_PER_STEP', { MAX_FAILURES: '3', EXTENDED_RETRIES: '0', MAX_CALLS_PER_STEP: '11' }],
  ])('refuses %s in a mix that can never work: %o', (name, changes) => {
    const message = problemsOf(changes);
    expect(message).toContain(`  ${name}: expected `);
    expect(message).toContain('1 setting(s)');
  });

  it.each([
    { ORDER_LIFETIME_MS: '20000', STEP_DEADLINE_MS: '20000' },
    { STEP_DEADLINE_MS: '300000' },
    { EXTENDED_RETRIES: '0', EXTENDED_WAIT_MS: '3600000' },
    { MAX_FAILURES: '3', EXTENDED_RETRIES: '0', MAX_CALLS_PER_STEP: '12' },
  ])('takes the last value that works: %o', (changes) => {
    expect(problemsOf(changes)).toBe('');
  });

  it('names the steps whose calls exceed the limit, attempts after an extended wait included (R34, R50, T70)', () => {
    const changes = { MAX_FAILURES: '3', EXTENDED_RETRIES: '1', MAX_CALLS_PER_STEP: '15' };
    expect(problemsOf(changes)).toMatch(/payment 16, shipping 16/);
  });

  it('knows how long the runtime renews the lock of a message', () => {
    const [hours = 0, minutes = 0, seconds = 0] = hostFile.extensions.serviceBus.maxAutoLockRenewalDuration
      .split(':')
      .map(Number);
    expect(((hours * 60 + minutes) * 60 + seconds) * 1_000).toBe(lockRenewalMs);
  });
});
