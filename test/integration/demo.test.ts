import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const demo = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'demo.js');

/** Runs the built demo in a pipe; `onLine` may act on its output. */
async function runDemo(args: readonly string[], onLine: (line: string, pid: number) => void = () => undefined) {
  const child = spawn(process.execPath, [demo, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line, child.pid ?? 0);
  });
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output: lines.join('\n'), errors: errors.join('\n') };
}

describe('npm run demo', () => {
  it('shows each order to its end and proves it', { timeout: 90_000 }, async () => {
    const { exitCode, output, errors } = await runDemo(['--orders', '3']);
    expect(errors).toBe('');
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^good-1 +Processed +\d {2}Received, Completed +3 +0$/m);
    expect(output).toMatch(/^agent-dies +Processed +[2-9] {2}Received, Completed +3 +0$/m);
    expect(output).toMatch(/^card-declined +Compensated +\d {2}Received, Failed +0 +0$/m);
    expect(output).toMatch(/^no-carrier +Compensated +[2-9] {2}Received, Failed +2 +2$/m);
    expect(output).toMatch(/^sent-twice +Processed +\d {2}Received, Completed +3 +0$/m);
    expect(output).toMatch(/^invalid +InvalidOrder +currency: /m);
    expect(output).toContain('Further good orders: 3 of 3 Processed.');
    expect(output).toMatch(/supervisor: attempt 1 expired/);
    expect(output).not.toContain('\u001B');
  });

  it('shows the same while the Functions host is killed', { timeout: 90_000 }, async () => {
    const { exitCode, output, errors } = await runDemo(['--fault', 'host-killed']);
    expect(errors).toBe('');
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^Fault: functions-host was killed while .* ran again after \d+ ms\.$/m);
  });

  it.skipIf(process.platform === 'win32')(
    'stops its stack on Ctrl-C, also in the middle',
    { timeout: 60_000 },
    async () => {
      const { exitCode, output } = await runDemo([], (line, pid) => {
        if (line.startsWith('The orders:')) process.kill(pid, 'SIGINT');
      });
      expect(exitCode).toBe(130);
      expect(output).toContain('Stopping');
      expect(output).not.toContain('ended as they must');
    },
  );

  it('refuses a fault that it does not know, and names those it knows', async () => {
    const { exitCode, errors } = await runDemo(['--fault', 'fire']);
    expect(exitCode).toBe(2);
    expect(errors).toMatch(/There is no fault "fire"; there are host-killed, /);
  });
});
