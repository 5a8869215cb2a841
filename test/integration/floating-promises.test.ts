import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import type { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
import { findProjectRoot } from '../../local/project.js';

const root = findProjectRoot();
const error = 2;
const functionFiles = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('functions', path));

describe('a function of the app', () => {
  it('may not return before its work is done: the linter refuses promises that nobody waits for (C83)', async () => {
    const linter = new ESLint({ cwd: root });
    expect(functionFiles).not.toEqual([]);
    for (const file of functionFiles) {
      const { rules = {} } = (await linter.calculateConfigForFile(file)) as Linter.Config;
      expect(rules['@typescript-eslint/no-floating-promises'], file).toEqual([error]);
      expect(rules['@typescript-eslint/no-misused-promises'], file).toEqual([error]);
    }
  });

  it('makes no exception for itself (C83)', () => {
    const exceptions = functionFiles.filter((file) =>
      readFileSync(join(root, file), 'utf8').includes('eslint-disable'),
    );
    expect(exceptions).toEqual([]);
  });
});
