import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CommandResult } from './bicep.js';
import { projectRoot } from './bicep.js';

/** A request to Resource Manager or to the app: "GET /subscriptions/…", "GET /api/health", without the query. */
export type Call = string;

/** The answer: a status and a JSON body. */
export type Answer = readonly [number, unknown];

/** A Resource Manager, a deployed app and an `azd` that the hooks find instead of the real ones. */
export interface FakeAzure {
  readonly calls: readonly Call[];
  /** Values that hooks stored with `azd env set`. */
  stored(): Readonly<Record<string, string>>;
  run(hook: string, environment?: Readonly<Record<string, string>>): Promise<CommandResult>;
}

const fakeAzd = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
const [command, ...rest] = process.argv.slice(2);
if (command === 'auth') console.log(JSON.stringify({ token: 'fake-token', expiresOn: '2999-01-01T00:00:00Z' }));
if (command === 'env') appendFileSync(process.env.AZD_STORE, JSON.stringify(rest.slice(1)) + '\\n');
`;

/** Starts the fakes; `answer` plays Resource Manager and the app. */
export async function fakeAzure(answer: (call: Call) => Answer): Promise<FakeAzure> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    const call = `${String(request.method)} ${(request.url ?? '').split('?')[0] ?? ''}`;
    const { authorization, 'x-functions-key': key } = request.headers;
    const isSignedIn = authorization === 'Bearer fake-token' || key === 'fake-key';
    calls.push(call);
    const [status, body] = isSignedIn ? answer(call) : [401, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const folder = mkdtempSync(join(tmpdir(), 'azd-'));
  writeFileSync(join(folder, 'azd'), fakeAzd);
  chmodSync(join(folder, 'azd'), 0o755);
  const store = join(folder, 'store');
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    AZD_STORE: store,
    AZURE_RESOURCE_MANAGER_URL: address,
    SERVICE_APP_URI: address,
    AZURE_SUBSCRIPTION_ID: 'sub',
    AZURE_RESOURCE_GROUP: 'rg-test',
    STORAGE_ACCOUNT_NAME: 'sttest',
    SERVICE_APP_NAME: 'func-test',
  };
  return {
    calls,
    stored: () => {
      const lines = existsSync(store) ? readFileSync(store, 'utf8').trim().split('\n') : [];
      return Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, string]));
    },
    run: (hook, more = {}) => runHook(hook, { ...environment, ...more }),
  };
}

/** Runs a hook as azd does: a Node process with the environment's values as variables. */
export async function runHook(hook: string, environment: Readonly<Record<string, string>>): Promise<CommandResult> {
  const child = spawn(process.execPath, [join(projectRoot, 'infra', 'hooks', hook)], {
    cwd: projectRoot,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (data) => (output += String(data)));
  child.stderr.on('data', (data) => (errors += String(data)));
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, output, errors };
}
