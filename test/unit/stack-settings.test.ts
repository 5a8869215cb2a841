import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { appSettings, readSampleSettings } from '../../local/stack-settings.js';

const addresses = {
  connectionString: 'Endpoint=sb://127.0.0.1:21000;…',
  cosmosEndpoint: 'http://127.0.0.1:22000/',
  cosmosKey: 'key',
  hostUrl: 'http://127.0.0.1:23000',
};
const directory = mkdtempSync(join(tmpdir(), 'settings-'));

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function appWith(sample: string): string {
  const app = mkdtempSync(join(directory, 'app-'));
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, 'local.settings.sample.json'), sample);
  return app;
}

describe('the settings of the app on the local stack', () => {
  it('are those of the sample with the live addresses', () => {
    const sample = { MAX_FAILURES: '3', COSMOS_ENDPOINT: 'http://127.0.0.1:8081/', ServiceBusConnection: 'old' };
    expect(appSettings(sample, addresses)).toEqual({
      MAX_FAILURES: '3',
      ServiceBusConnection: addresses.connectionString,
      COSMOS_ENDPOINT: addresses.cosmosEndpoint,
      COSMOS_KEY: addresses.cosmosKey,
      WEBSITE_HOSTNAME: '127.0.0.1:23000',
      AzureWebJobsStorage: 'UseDevelopmentStorage=true',
    });
  });

  it("name the app's own address where it listens now", () => {
    const sample = { PAYMENT_URL: 'http://127.0.0.1:7071/api/demo/payment', OTHER_URL: 'http://127.0.0.1:70710/' };
    expect(appSettings(sample, addresses)).toMatchObject({
      PAYMENT_URL: 'http://127.0.0.1:23000/api/demo/payment',
      OTHER_URL: 'http://127.0.0.1:70710/',
    });
  });

  it('give way to overrides', () => {
    const overrides = { MAX_FAILURES: '5', PAYMENT_URL: 'http://127.0.0.1:7071/mine', COSMOS_KEY: 'mine' };
    const sample = { MAX_FAILURES: '3', PAYMENT_URL: 'http://127.0.0.1:7071/' };
    expect(appSettings(sample, addresses, overrides)).toMatchObject(overrides);
  });

  it('are read from Values of the sample file', () => {
    const app = appWith('{"IsEncrypted": false, "Values": {"MAX_FAILURES": "3"}}');
    expect(readSampleSettings(app)).toEqual({ MAX_FAILURES: '3' });
  });

  it.each([
    ['no Values', '{}', 'must hold an object "Values"'],
    ['a value that is no string', '{"Values": {"MAX_FAILURES": 3}}', 'whose values are all strings'],
    ['text that is no JSON', '{', 'is not valid JSON'],
  ])('are refused from a file with %s', (_problem, text, message) => {
    expect(() => readSampleSettings(appWith(text))).toThrow(message);
  });

  it('are refused when the sample file is missing', () => {
    expect(() => readSampleSettings(directory)).toThrow(
      /Cannot read the app's settings from .*local\.settings\.sample\.json/,
    );
  });
});
