import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseMainOptions, UsageError } from '../../local/main-options.js';

const directory = mkdtempSync(join(tmpdir(), 'options-'));
const parse = (...args: string[]) => parseMainOptions(args, directory);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function faultsFile(content: unknown): string {
  const path = join(mkdtempSync(join(directory, 'faults-')), 'faults.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('the command line of npm run local', () => {
  it('needs nothing', () => {
    expect(parse()).toEqual({
      withHost: true,
      emulators: false,
      dataDirectory: join(directory, '.local', 'data'),
      reset: false,
      watch: false,
      verbose: false,
      fsync: 'never',
      settings: {},
      faults: {},
      ports: {},
    });
  });

  it('takes every option', () => {
    const plan = { seed: 3, rules: [{ operation: 'send', action: 'drop' }] };
    const ports = ['--port-service-bus', '5673', '--port-cosmos-db=8082', '--port-functions-host', '7072'];
    const faults = faultsFile({ 'service-bus': plan });
    const settings = ['--setting', 'AzureWebJobs.payment-agent.Disabled=true', '--setting', 'URL=a=b'];
    expect(
      parse(
        '--no-host',
        '--data',
        'mine',
        '--reset',
        '--verbose',
        '--fsync',
        '--faults',
        faults,
        ...ports,
        ...settings,
      ),
    ).toEqual({
      withHost: false,
      emulators: false,
      dataDirectory: resolve('mine'),
      reset: true,
      watch: false,
      verbose: true,
      fsync: 'always',
      settings: { 'AzureWebJobs.payment-agent.Disabled': 'true', URL: 'a=b' },
      faults: { 'service-bus': plan },
      ports: { 'service-bus': 5673, 'cosmos-db': 8082, 'functions-host': 7072 },
    });
  });

  it('shows the usage on request', () => {
    expect(parse('--help')).toBe('help');
  });

  it.each([
    ['an unknown option', ['--hots'], "Unknown option '--hots'"],
    ['a word that is no option', ['start'], "Unexpected argument 'start'"],
    ['an option without its value', ['--data'], 'argument missing'],
    ['an empty data directory', ['--data', '', '--reset'], '--data is empty'],
    ['an empty faults file', ['--faults='], '--faults is empty'],
    ['a port that is no number', ['--port-cosmos-db', 'x'], '--port-cosmos-db is "x"'],
    ['a port out of range', ['--port-cosmos-db', '65536'], 'must be a number from 1 to 65535'],
    ['a setting without a value', ['--setting', 'URL'], 'must be <name>=<value>'],
    ['faults of an unknown part', ['--faults', faultsFile({ broker: {} })], 'names a part "broker"'],
    [
      'a wrong fault plan',
      ['--faults', faultsFile({ 'cosmos-db': { seed: 1 } })],
      'cosmos-db: The fault plan is wrong',
    ],
  ])('refuses %s', (_problem, args, message) => {
    expect(() => parse(...args)).toThrow(UsageError);
    expect(() => parse(...args)).toThrow(message);
  });

  it('names a faults file that cannot be read', () => {
    expect(() => parse('--faults', 'missing.json')).toThrow(/Cannot read the fault plans from .*missing\.json/);
  });
});
