import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { startAzurite } from '../../local/azurite.js';
import { isPortFree } from '../../local/ports.js';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'azurite-'));
const free = await Promise.all([10_000, 10_001, 10_002].map(isPortFree));

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(free.includes(false))('Azurite for func start', () => {
  it('is not used when it runs only in part; what is missing is named (C67)', async () => {
    const blobAlone = createServer((socket) => socket.destroy()).listen(10_000, '127.0.0.1');
    await once(blobAlone, 'listening');
    await expect(startAzurite(root, directory)).rejects.toThrow(
      'nothing listens for queue (port 10001), table (port 10002)',
    );
    blobAlone.close();
    await once(blobAlone, 'close');
  });

  it('takes API versions that it does not know yet (C66), and is left running when it ran before', async () => {
    const azurite = await startAzurite(root, directory);
    const again = await startAzurite(root, directory);
    expect([azurite.isForeign, again.isForeign]).toEqual([false, true]);
    await again.stop();
    const headers = { 'x-ms-version': '2099-12-31' };
    const answer = await fetch('http://127.0.0.1:10000/devstoreaccount1?comp=list', { headers });
    expect(answer.status).toBe(403); // It wants a signature; an unknown version would be 400.
    await azurite.stop();
    expect(await isPortFree(10_000)).toBe(true);
  });

  it('ends with a stack that fails without stopping it', async () => {
    const script = `
      const { startAzurite } = await import(${JSON.stringify(pathToFileURL(join(root, 'dist/local/azurite.js')).href)});
      await startAzurite(${JSON.stringify(root)}, ${JSON.stringify(directory)});
      console.log('started');
      throw new Error('the stack fails');`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(run.stdout).toContain('started');
    expect(run.stderr).toContain('the stack fails');
    await vi.waitFor(
      async () => {
        expect(await isPortFree(10_000)).toBe(true);
      },
      { timeout: 5_000 },
    );
  });
});
