import { describe, expect, it } from 'vitest';
import { parseHostJson } from '../../local/functions-host/host-json.js';
import { isDisabled, readSetting, resolveConnection, resolveExpressions } from '../../local/functions-host/settings.js';
import { parseTimeSpan } from '../../local/functions-host/time-span.js';
import { activityInput, jsonData, returnedJson, textData } from '../../local/functions-host/typed-data.js';

describe('a setting', () => {
  it('is found with ":" written as "__"', () => {
    expect(readSetting('A:B', { A__B: 'x' })).toBe('x');
  });

  it('replaces its %expression%, and a missing one is named with who needs it', () => {
    expect(resolveExpressions('%QUEUE%-%REGION%', 'it', { QUEUE: 'orders', REGION: 'eu' })).toBe('orders-eu');
    expect(resolveExpressions('100 percent', 'it', {})).toBe('100 percent');
    expect(() => resolveExpressions('%QUEUE%', 'Trigger "x"', {})).toThrow('Trigger "x" needs the app setting "QUEUE"');
  });

  it.each(['1', 'true', 'True'])('turns a function off: %s', (value) => {
    expect(isDisabled('f', { 'AzureWebJobs.f.Disabled': value })).toBe(true);
    expect(isDisabled('f', { AzureWebJobs_f_Disabled: value })).toBe(true);
    expect(isDisabled('g', { 'AzureWebJobs.f.Disabled': value })).toBe(false);
  });
});

describe('a connection', () => {
  it('is the setting of its name, with or without the prefix AzureWebJobs', () => {
    expect(resolveConnection('Bus', 'it', { Bus: 'Endpoint=1' })).toBe('Endpoint=1');
    expect(resolveConnection('Bus', 'it', { AzureWebJobsBus: 'Endpoint=2' })).toBe('Endpoint=2');
    expect(resolveConnection(undefined, 'it', { AzureWebJobsServiceBus: 'Endpoint=3' })).toBe('Endpoint=3');
  });

  it('by identity is refused with what to set', () => {
    const variables = { Bus__fullyQualifiedNamespace: 'x.servicebus.windows.net' };
    expect(() => resolveConnection('Bus', 'it', variables)).toThrow('Set "Bus" to a connection string');
  });
});

describe('host.json', () => {
  it('has the defaults of Azure', () => {
    const options = parseHostJson({ version: '2.0' }, {});
    expect(options).toMatchObject({ routePrefix: 'api', functionTimeoutMs: undefined, reports: [] });
    expect(options.serviceBus).toMatchObject({ autoCompleteMessages: true, maxAutoLockRenewalMs: 300_000 });
    expect(options.durableTask).toMatchObject({
      hubName: 'TestHubName',
      canOverrideAnyState: false,
      defaultVersion: null,
    });
  });

  it('is read', () => {
    const extensions = {
      http: { routePrefix: '' },
      serviceBus: { autoCompleteMessages: false, maxConcurrentCalls: 3, maxAutoLockRenewalDuration: '00:01:30' },
      durableTask: { hubName: '%HUB%', overridableExistingInstanceStates: 'AnyState', defaultVersion: '2.0' },
    };
    const options = parseHostJson({ functionTimeout: '00:10:00', extensions }, { HUB: 'Blue' });
    expect(options).toMatchObject({ routePrefix: '', functionTimeoutMs: 600_000 });
    expect(options.serviceBus).toEqual({
      autoCompleteMessages: false,
      maxConcurrentCalls: 3,
      maxAutoLockRenewalMs: 90_000,
    });
    expect(options.durableTask).toMatchObject({ hubName: 'Blue', canOverrideAnyState: true, defaultVersion: '2.0' });
  });

  it('is overridden by settings', () => {
    const variables = { AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls: '7' };
    expect(parseHostJson({}, variables).serviceBus.maxConcurrentCalls).toBe(7);
  });

  it('with options that have no effect here is accepted without a word', () => {
    const content = {
      logging: { logLevel: { default: 'Warning' } },
      extensions: { durableTask: { tracing: { traceInputsAndOutputs: false } } },
    };
    expect(parseHostJson(content, {}).reports).toEqual([]);
  });

  it('with an unknown option is reported', () => {
    expect(parseHostJson({ extensions: { serviceBus: { prefetchcount: 1 } } }, {}).reports).toEqual([
      'host.json: unknown option "extensions.serviceBus.prefetchcount" is ignored.',
    ]);
  });
});

describe('a time span', () => {
  it.each([
    ['00:05:00', 300_000],
    ['1.02:00:00', 93_600_000],
    ['00:00:00.25', 250],
  ])('of %s has %i ms', (text, ms) => {
    expect(parseTimeSpan(text)).toBe(ms);
  });

  it.each(['', '5', '1:2:3:4', 'PT5M'])('is not "%s"', (text) => {
    expect(parseTimeSpan(text)).toBeUndefined();
  });
});

describe('typed data', () => {
  it('leaves to the library what may be JSON, and says of other text that it is text', () => {
    expect(textData('123')).toEqual({ string: '123' });
    expect(textData(' {"a":1}')).toEqual({ string: ' {"a":1}' });
    expect(textData('hello')).toEqual({ json: '"hello"' });
    expect(jsonData({ a: 1 })).toEqual({ json: '{"a":1}' });
  });

  it.each([
    [undefined, 'null'],
    [{ json: '{"a":1}' }, '{"a":1}'],
    [{ string: '42' }, '"42"'],
    [{ int: 42 }, '42'],
    [{ double: 0.5 }, '0.5'],
    [{ bytes: Buffer.from('hi') }, '"aGk="'],
  ])('of a return value becomes JSON: %j', (data, json) => {
    expect(returnedJson(data)).toBe(json);
  });

  it('of a JSON string stays text on the way to an activity, so that "42" does not become a number', () => {
    expect(activityInput('"42"')).toEqual({ json: '"42"' });
    expect(activityInput('true')).toEqual({ json: '"True"' });
    expect(activityInput('null')).toEqual({});
  });
});
