import { describe, expect, it } from 'vitest';
import { compareVersions, decideVersion, type VersionOptions } from '../../local/functions-host/durable/versions.js';

const options: VersionOptions = {
  defaultVersion: '2.0',
  versionMatchStrategy: 'CurrentOrOlder',
  versionFailureStrategy: 'Reject',
};

describe('a version', () => {
  it.each([
    ['1.9', '1.10'],
    ['1.0', '2.0'],
    ['1.0', '1.0.0'],
    ['', '1.0'],
    ['alpha', 'Beta'],
  ])('"%s" is older than "%s"', (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
    expect(compareVersions(newer, newer)).toBe(0);
  });
});

describe('an instance', () => {
  it.each([
    ['1.0', options, 'run'],
    [null, options, 'run'],
    ['2.0', options, 'run'],
    ['3.0', options, 'wait'],
    ['3.0', { ...options, versionFailureStrategy: 'Fail' as const }, 'fail'],
    ['1.0', { ...options, versionMatchStrategy: 'Strict' as const }, 'wait'],
    ['3.0', { ...options, versionMatchStrategy: 'None' as const }, 'run'],
    ['3.0', { ...options, defaultVersion: null }, 'wait'],
  ])('of version %s is taken as host.json says', (version, given, decision) => {
    expect(decideVersion(version, given)).toBe(decision);
  });
});
