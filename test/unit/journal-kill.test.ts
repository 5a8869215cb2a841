import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openMap, versionOf, withDirectory } from '../support/journal-fixture.js';

const keyCount = 50;
const support = join(import.meta.dirname, '../support');

function startWriter(directory: string): ChildProcess & { readonly stdout: NonNullable<ChildProcess['stdout']> } {
  const flags = ['--no-warnings', '--import', join(support, 'register-typescript.ts')];
  return spawn(process.execPath, [...flags, join(support, 'journal-child.ts'), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Kills the writer with SIGKILL after so many acknowledgements; returns what it opened and acknowledged last. */
async function writeUntilKilled(
  directory: string,
  acknowledgements: number,
): Promise<{ opened: number; last: number }> {
  const child = startWriter(directory);
  const exited = once(child, 'exit');
  let opened = 0;
  let last = 0;
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, version] = line.split(' ');
    if (word === 'opened') opened = Number(version);
    else last = Number(version);
    count += 1;
    if (count === acknowledgements) child.kill('SIGKILL');
  }
  await exited;
  return { opened, last };
}

it('loses no acknowledged record when its process is killed again and again under traffic (J1–J4)', () =>
  withDirectory(async (directory) => {
    let acknowledged = 0;
    for (const acknowledgements of [1, 2, 40, 333, 800, 1500, 90, 5]) {
      const { opened, last } = await writeUntilKilled(directory, acknowledgements);
      expect(opened).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = Math.max(opened, last);
    }
    const { journal, state } = await openMap(directory);
    const versions = [...state.values()].map(versionOf);
    const newest = Math.max(...versions);
    expect(newest).toBeGreaterThanOrEqual(acknowledged);
    // Whole and in order: of each key the newest version is left.
    expect(versions.sort((a, b) => a - b)).toEqual(
      Array.from({ length: keyCount }, (_, index) => newest - keyCount + 1 + index),
    );
    await journal.close();
  }));
