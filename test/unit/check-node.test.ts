import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../../scripts/check-node.mjs');

function checkNode(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, errors: stderr };
}

describe('the check of the running Node', () => {
  it('is silent on the Node that npm installs', () => {
    expect(checkNode()).toEqual({ status: 0, errors: '' });
  });

  it.each(['20.20.2', '9.0.0'])('refuses Node %s and says what is needed and what to run', (version) => {
    const { status, errors } = checkNode(version);
    expect(status).toBe(1);
    expect(errors).toContain(`need Node 22 or newer, and Node ${version} runs them`);
    expect(errors).toContain('npm rebuild node --ignore-scripts=false');
  });

  it.each(['22.0.0', '24.21.0', '100.1.0'])('takes Node %s', (version) => {
    expect(checkNode(version)).toEqual({ status: 0, errors: '' });
  });
});
