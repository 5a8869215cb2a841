import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import sample from '../../local.settings.sample.json' with { type: 'json' };
import topology from '../../infra/topology.json' with { type: 'json' };
import { requireBoundedRetries } from '../../functions/config/bounded-retries.js';
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
    expect(() => {
      requireBoundedRetries(config);
    }).not.toThrow();
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
    ['*/5 * * * *', false],
    ['0 */1 * * * *', true],
    ['', false],
    ['often', false],
  ])('takes the schedule %j: %s', (schedule, isTaken) => {
    expect(problemsOf({ SUPERVISOR_SCHEDULE: schedule }) === '').toBe(isTaken);
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
    const azure = { ServiceBusConnection: undefined, COSMOS_KEY: undefined };
    const host = { ServiceBusConnection__fullyQualifiedNamespace: 'ns.servicebus.windows.net' };
    const id = { AZURE_CLIENT_ID: '3f0e8a52-9c5b-4d3a-9a53-0b6c4e8f1a11' };
    expect(problemsOf({ ...azure, ...host, ...id })).toBe('');
  });

  it('refuses water marks and back-offs that contradict each other', () => {
    expect(problemsOf({ INTAKE_LOW_WATER: '10', INTAKE_HIGH_WATER: '9' })).toContain('INTAKE_LOW_WATER');
    expect(problemsOf({ RETRY_BACKOFF_MS: '5000', RETRY_MAX_BACKOFF_MS: '4999' })).toContain('RETRY_MAX_BACKOFF_MS');
  });
});

describe('requireBoundedRetries', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('refuses settings whose layers multiply to more than is allowed, and names the step (R50, T70)', () => {
    const config = parseConfig({ ...values, MAX_FAILURES: '3', EXTENDED_RETRIES: '0', MAX_CALLS_PER_STEP: '11' });
    expect(() => {
      requireBoundedRetries(config);
    }).toThrow(/MAX_CALLS_PER_STEP.*payment 12/);
  });

  it('counts the attempts after an extended wait, too (R34, R50)', () => {
    const config = parseConfig({ ...values, MAX_FAILURES: '3', EXTENDED_RETRIES: '1', MAX_CALLS_PER_STEP: '15' });
    expect(() => {
      requireBoundedRetries(config);
    }).toThrow(/payment 16/);
  });

  it('keeps the app from starting (R50)', async () => {
    const environment = { ...values, MAX_FAILURES: '3', EXTENDED_RETRIES: '0', MAX_CALLS_PER_STEP: '11' };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    await expect(import('../../functions/index.js')).rejects.toThrow(/MAX_CALLS_PER_STEP/);
  });

  it('takes settings that multiply to exactly what is allowed', () => {
    const config = parseConfig({ ...values, MAX_FAILURES: '3', EXTENDED_RETRIES: '0', MAX_CALLS_PER_STEP: '12' });
    expect(() => {
      requireBoundedRetries(config);
    }).not.toThrow();
  });
});
