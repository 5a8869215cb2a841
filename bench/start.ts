/**
 * What the start of an instance costs, from the start of its process until all functions are registered: the bundle that
 * is deployed beside the compiled files with their installed libraries. Files come from the page cache, which a new
 * instance in Azure does not have, so the difference there is larger.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findProjectRoot } from '../local/project.js';

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
  readonly residentMiB: number;
}

const entries = { bundle: 'dist/app/main.js', 'compiled files': 'dist/functions/index.js' };
const starts = 11;

/** Starts each form of the app several times, in turns, and prints the medians. */
export function benchStart(): Promise<void> {
  const root = findProjectRoot();
  const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));
  try {
    for (const name of ['dist', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
    const forms = Object.entries(entries).map(([name, main]) => ({ name, main, measured: [] as Start[] }));
    for (let turn = 0; turn < starts; turn += 1) {
      for (const { main, measured } of forms) measured.push(startOnce(root, folder, main));
    }
    for (const { name, measured } of forms) print(name, measured);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return Promise.resolve();
}

function startOnce(root: string, folder: string, main: string): Start {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', main }));
  const loader = pathToFileURL(join(root, 'infra', 'package', 'load-package.mjs')).href;
  const script = `
    import { loadPackage } from ${JSON.stringify(loader)};
    await loadPackage(${JSON.stringify(folder)});
    const { user, system } = process.cpuUsage();
    const residentMiB = process.memoryUsage.rss() / 2 ** 20;
    console.log(JSON.stringify({ ms: performance.now(), cpuMs: (user + system) / 1000, residentMiB }));
    process.exit(0);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(`${main} does not load: ${stderr}`);
  return JSON.parse(stdout) as Start;
}

function print(name: string, measured: readonly Start[]): void {
  const median = (field: keyof Start): string =>
    (measured.map((start) => start[field]).sort((one, other) => one - other)[starts >> 1] ?? NaN).toFixed(0);
  console.log(
    `${name.padEnd(15)} ${median('ms').padStart(5)} ms, CPU ${median('cpuMs').padStart(5)} ms, ` +
      `resident memory ${median('residentMiB')} MiB (medians of ${starts})`,
  );
}
