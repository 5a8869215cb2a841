import { describe, expect, it, onTestFinished, vi } from 'vitest';
import sample from '../../local.settings.sample.json' with { type: 'json' };
import { checkHealth } from '../../functions/operator/check-health.js';
import { TransientError } from '../../functions/state/errors.js';

const never = <Result>(): Promise<Result> => new Promise<Result>(() => undefined);

describe('the health of the app', () => {
  it('is good while the state store can be read', async () => {
    const admission = { readPause: () => Promise.resolve(undefined) };
    const report = await checkHealth({ settingProblems: [], admission: () => admission, wait: never });
    expect(report).toEqual({ status: 200, json: { status: 'healthy' } });
  });

  it('names every wrong setting, and does not ask a store that wrong settings name', async () => {
    const problems = ['COSMOS_DATABASE: is not set', 'MAX_FAILURES: expected a whole number from 1 to 100'];
    const admission = (): never => {
      throw new Error('asked');
    };
    const report = await checkHealth({ settingProblems: problems, admission, wait: never });
    expect(report).toEqual({ status: 503, json: { status: 'misconfigured', problems } });
  });

  it.each([
    ['answers with an error', () => Promise.reject(new TransientError('403 Forbidden')), never, '403 Forbidden'],
    ['never answers', never<undefined>, () => Promise.resolve(), 'no answer in 10000 ms'],
  ])('is bad, with the cause, when the state store %s', async (_how, readPause, wait, cause) => {
    const { status, json } = await checkHealth({ settingProblems: [], admission: () => ({ readPause }), wait });
    expect(status).toBe(503);
    const expected = [expect.stringMatching(new RegExp(`^COSMOS_ENDPOINT, COSMOS_DATABASE: .*${cause}`))];
    expect(json).toEqual({ status: 'unhealthy', problems: expected });
  });
});

describe('the entry of the app', () => {
  it('registers health alone, and reports the cause as an alert, when a setting cannot work', async () => {
    for (const [name, value] of Object.entries({ ...sample.Values, MAX_CALLS_PER_STEP: '11' })) vi.stubEnv(name, value);
    const lines: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    const registered: string[] = [];
    vi.doMock('@azure/functions', () => ({
      app: new Proxy({}, { get: () => (name: string) => registered.push(name) }),
    }));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
      vi.doUnmock('@azure/functions');
    });
    await import('../../functions/index.js');
    expect(registered).toEqual(['health']);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      alert: 'settings-wrong',
      problems: expect.stringContaining('MAX_CALLS_PER_STEP: expected') as unknown,
    });
  });
});
