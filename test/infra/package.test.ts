import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, runScript } from './support/bicep.js';
import { topology } from './support/resources.js';

const folder = mkdtempSync(join(tmpdir(), 'package-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

function lockedPackages(): Readonly<Record<string, LockedPackage>> {
  const lock = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return lock.packages;
}

describe('the deployment package', () => {
  beforeAll(() => {
    const { status, errors } = runScript('infra/package/stage.mjs', [folder]);
    expect(status, errors).toBe(0);
  });

  it('holds exactly what runs (C88)', () => {
    expect(readdirSync(folder).sort()).toEqual(['dist', 'host.json', 'package.json']);
    expect(readdirSync(join(folder, 'dist'))).toEqual(['app']);
    const own = ['app.js', 'roles.js', 'services.js'].flatMap((file) => [file, `${file}.map`]);
    const others = ['THIRD-PARTY-NOTICES.txt', 'libraries.js', 'main.js', 'open.js'];
    expect(readdirSync(join(folder, 'dist', 'app')).sort()).toEqual([...own, ...others].sort());
  });

  it.each(['stage.mjs', 'bundle.mjs'])('is never written over the files of somebody else: %s', (script) => {
    const foreign = join(folder, 'dist');
    const before = readdirSync(foreign);
    for (const named of [foreign, join(foreign, '.', '..', 'dist')]) {
      const { status, errors } = runScript(`infra/package/${script}`, [named]);
      expect(status).toBe(1);
      expect(errors).toContain(`${foreign} is not empty.`);
    }
    expect(readdirSync(foreign)).toEqual(before);
    const { status, errors } = runScript(`infra/package/${script}`, ['']);
    expect(status).toBe(1);
    expect(errors).toContain('is not empty.');
  });

  it('asks for no installation', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
    expect(Object.keys(manifest).sort()).toEqual(['main', 'name', 'private', 'type', 'version']);
  });

  it('names the licence of every library in it, and has none that only development needs', () => {
    const notices = readFileSync(join(folder, 'dist', 'app', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const named = [...notices.matchAll(/^(\S+) (\S+)\n-+\n\nLicence: \S/gm)].map(([, name, version]) => [
      name,
      version,
    ]);
    const ofProduction = Object.entries(lockedPackages())
      .filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
      .map(([path, { version }]) => [path.replace(/^.*node_modules\//, ''), version]);
    for (const library of named) expect(ofProduction).toContainEqual(library);
    const direct = [
      '@azure/cosmos',
      '@azure/functions',
      '@azure/identity',
      '@azure/service-bus',
      'durable-functions',
      'zod',
    ];
    expect(named.map(([name]) => name)).toEqual(expect.arrayContaining(direct));
  });

  it('holds one copy of the library that registers functions (C74)', () => {
    const copies = Object.keys(lockedPackages()).filter((path) => path.endsWith('node_modules/@azure/functions'));
    expect(copies).toEqual(['node_modules/@azure/functions']);
  });

  it('loads outside the project, as the worker loads it, and registers the functions of every role (C73)', () => {
    const { output, errors } = runScript('infra/package/list-functions.mjs', [folder]);
    expect(errors).toBe('');
    const names = JSON.parse(output) as string[];
    expect(new Set(names).size).toBe(names.length);
    const fixed = ['health', 'submit', 'starter', 'advance', 'supervisor', 'supervisor-hint', 'demo-remote'];
    const agents = topology.serviceBus.queues
      .filter(({ name }) => name.endsWith('-requests'))
      .map(({ name }) => name.replace('-requests', ''));
    const perAgent = agents.flatMap((agent) => [`${agent}-agent`, `agent-reply-${agent}`]);
    for (const name of [...fixed, ...perAgent]) expect(names).toContain(name);
  });

  it('reports every setting that is missing in one line', () => {
    const { stderr } = spawnSync(process.execPath, [join(folder, 'dist', 'app', 'main.js')], {
      encoding: 'utf8',
      env: {},
    });
    const [line] = stderr.split('\n').filter((text) => text.startsWith('{"alert":"settings-wrong"'));
    for (const name of ['STEP_DEADLINE_MS', 'COSMOS_DATABASE']) expect(line).toContain(`${name}: is not set`);
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
      'dist/app/main.js',
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
    expect(sent.sort()).toEqual(['dist/app/main.js', 'host.json', 'package.json']);
    rmSync(repository, { recursive: true, force: true });
  });
});
