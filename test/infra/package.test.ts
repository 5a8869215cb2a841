import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, runScript } from './support/bicep.js';
import { topology } from './support/resources.js';

const folder = mkdtempSync(join(tmpdir(), 'package-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function filesBelow(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).map((file) => file.split(sep).join('/'));
}

function lockedPackages(): Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>> {
  const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return lock.packages;
}

describe('the deployment package', () => {
  beforeAll(() => {
    const { status, errors } = runScript('infra/package/stage.mjs', [folder]);
    expect(status, errors).toBe(0);
  });

  it('holds exactly what runs (C88)', () => {
    expect(readdirSync(folder).sort()).toEqual(
      ['dist', 'host.json', 'node_modules', 'package-lock.json', 'package.json'].sort(),
    );
    expect(readdirSync(join(folder, 'dist'))).toEqual(['functions']);
    const compiled = filesBelow(join(folder, 'dist', 'functions')).filter((file) => file.endsWith('.js'));
    const sources = filesBelow(join(projectRoot, 'functions')).filter((file) => file.endsWith('.ts'));
    for (const file of sources) expect(compiled).toContain(file.replace(/\.ts$/, '.js'));
  });

  it('holds every production dependency and no development one', () => {
    const locked = Object.entries(lockedPackages()).filter(([path]) => path !== '');
    const isForRuntime = ([, entry]: (typeof locked)[number]): boolean =>
      entry.dev !== true && entry.devOptional !== true;
    for (const [path] of locked.filter(isForRuntime)) expect(existsSync(join(folder, path)), path).toBe(true);
    for (const [path] of locked.filter((item) => !isForRuntime(item))) {
      expect(existsSync(join(folder, path)), path).toBe(false);
    }
  });

  it('holds one copy of the library that registers functions (C74)', () => {
    const copies = Object.keys(lockedPackages()).filter((path) => path.endsWith('node_modules/@azure/functions'));
    expect(copies).toEqual(['node_modules/@azure/functions']);
  });

  it('holds no test, source, setting or leftover function.json', () => {
    const own = [...readdirSync(folder), ...filesBelow(join(folder, 'dist')), ...filesBelow(folder)];
    const unwanted = own.filter((file) => /(^|\/)function\.json$|local\.settings|\.test\.|\.tsbuildinfo$/.test(file));
    expect(unwanted.filter((file) => !file.startsWith('node_modules/'))).toEqual([]);
  });

  it('loads outside the project, as the worker loads it, and registers the functions of every role (C73)', () => {
    const { output, errors } = runScript('infra/package/list-functions.mjs', [folder]);
    expect(errors).toBe('');
    const names = JSON.parse(output) as string[];
    expect(new Set(names).size).toBe(names.length);
    const fixed = ['submit', 'starter', 'advance', 'supervisor', 'supervisor-hint', 'demo-remote'];
    const agents = topology.serviceBus.queues
      .filter(({ name }) => name.endsWith('-requests'))
      .map(({ name }) => name.replace('-requests', ''));
    const perAgent = agents.flatMap((agent) => [`${agent}-agent`, `agent-reply-${agent}`]);
    for (const name of [...fixed, ...perAgent]) expect(names).toContain(name);
  });

  it('has no demo remote services once they are switched off', () => {
    const { output } = runScript('infra/package/list-functions.mjs', [folder], { DEMO_REMOTES_ENABLED: 'false' });
    expect(output).not.toContain('demo');
  });

  it('carries the host.json of the chosen Durable back end', () => {
    expect(readFileSync(join(folder, 'host.json'), 'utf8')).toBe(readFileSync(join(projectRoot, 'host.json'), 'utf8'));
  });
});

describe('host.dts.json', () => {
  interface HostFile {
    extensions: { durableTask: Record<string, unknown> };
  }
  const read = (name: string): HostFile => JSON.parse(readFileSync(join(projectRoot, name), 'utf8')) as HostFile;

  it('is host.json with Durable Task Scheduler as the back end, and nothing else', () => {
    const scheduler = read('host.dts.json');
    expect(scheduler.extensions.durableTask).toMatchObject({
      hubName: '%TASKHUB_NAME%',
      storageProvider: { type: 'azureManaged', connectionStringName: 'DURABLE_TASK_SCHEDULER_CONNECTION_STRING' },
    });
    const { hubName, storageProvider } = read('host.json').extensions.durableTask;
    Object.assign(scheduler.extensions.durableTask, { hubName, storageProvider });
    expect(scheduler).toEqual(read('host.json'));
  });

  it('and host.json keep alerts and events out of sampling (C98)', () => {
    for (const name of ['host.json', 'host.dts.json']) {
      const text = readFileSync(join(projectRoot, name), 'utf8');
      expect(/"excludedTypes": "([^"]*)"/.exec(text)?.[1]?.split(';'), name).toContain('Trace');
    }
  });

  it('is chosen by DURABLE_BACKEND; an unknown back end is refused', () => {
    const { status, errors } = runScript('infra/package/stage.mjs', [folder], { DURABLE_BACKEND: 'Netherite' });
    expect(status).toBe(1);
    expect(errors).toContain('DURABLE_BACKEND must be one of AzureStorage, DurableTaskScheduler');
  });
});

describe('.funcignore', () => {
  it('needs no negation, which not every reader of the file understands', () => {
    expect(readFileSync(join(projectRoot, '.funcignore'), 'utf8')).not.toMatch(/^!/m);
  });

  it('lets only what runs through when the project folder itself is published', () => {
    const repository = mkdtempSync(join(tmpdir(), 'ignore-'));
    const git = (...args: readonly string[]): string =>
      spawnSync('git', args, { cwd: repository, encoding: 'utf8' }).stdout;
    git('init', '-q');
    writeFileSync(join(repository, '.gitignore'), readFileSync(join(projectRoot, '.funcignore')));
    const tracked = spawnSync('git', ['ls-files'], { cwd: projectRoot, encoding: 'utf8' }).stdout.trim().split('\n');
    const candidates = [
      ...tracked,
      'dist/functions/index.js',
      'dist/local/main.js',
      'dist/client/index.js',
      'dist/.tsbuildinfo',
      'x.test.ts',
    ];
    const ignored = git('check-ignore', '--no-index', ...candidates)
      .trim()
      .split('\n');
    const sent = candidates.filter((file) => !ignored.includes(file));
    expect(sent.sort()).toEqual(['dist/functions/index.js', 'host.json', 'package-lock.json', 'package.json']);
    rmSync(repository, { recursive: true, force: true });
  });
});
