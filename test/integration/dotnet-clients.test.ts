/** Microsoft's clients for .NET against both embedded servers: the checks of test/dotnet, where a .NET SDK is present. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startTestBroker, type QueueProperties } from '../support/service-bus-broker.js';
import { systemClock } from '../../local/service-bus/clock.js';
import { connectionStringOf } from '../support/service-bus-tokens.js';
import { withServer } from '../support/cosmos-db.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const project = join(root, 'test/dotnet');
const artifacts = join(root, '.local/dotnet-checks');
const minute = 60_000;

/** The queues that the checks name. */
const queues: readonly QueueProperties[] = [
  ...['send', 'receive', 'settle', 'scheduled', 'graveyard', 'forwarded', 'full', 'send-only'].map((name) => ({
    name,
  })),
  { name: 'short-lock', lockDuration: 'PT5S' },
  { name: 'two-deliveries', maxDeliveryCount: 2 },
  { name: 'duplicates', requiresDuplicateDetection: true },
  { name: 'expiring', deadLetteringOnMessageExpiration: true },
  { name: 'forwarding', forwardTo: 'forwarded' },
  { name: 'burying', forwardDeadLetteredMessagesTo: 'graveyard' },
];

/** Why the checks cannot run on this machine; undefined if they can. */
function missing(): string | undefined {
  const { status, stdout } = spawnSync('dotnet', ['--list-sdks'], { encoding: 'utf8' });
  if (status !== 0 || !/^10\./m.test(stdout)) return 'there is no .NET SDK 10';
  const restore = spawnSync('dotnet', ['restore', project, '--artifacts-path', artifacts], { encoding: 'utf8' });
  if (restore.status === 0) return undefined;
  if (/NU1301/.test(restore.stdout)) return 'the packages cannot be restored';
  throw new Error(restore.stdout);
}

const reason = missing();
if (reason !== undefined) process.stderr.write(`The checks of test/dotnet are skipped: ${reason}.\n`);

test.skipIf(reason !== undefined)(
  "Microsoft's clients for .NET see no difference to Azure",
  async () => {
    const build = ['build', project, '--configuration', 'Release', '--artifacts-path', artifacts, '--no-restore'];
    await run('dotnet', build, { encoding: 'utf8' });
    const { broker } = await startTestBroker(queues, {
      clock: systemClock,
      sizeFactor: 1 / 1024,
      authorizationRules: [{ keyName: 'sender', key: 'key-of-sender', rights: ['Send'], queue: 'send-only' }],
    });
    await withServer({}, async ({ server }) => {
      const { stdout } = await run('dotnet', [join(artifacts, 'bin/DotnetChecks/release/DotnetChecks.dll')], {
        encoding: 'utf8',
        env: {
          ...process.env,
          SERVICE_BUS_CONNECTION: broker.connectionString,
          SERVICE_BUS_SEND_ONLY_CONNECTION: connectionStringOf(broker.port, 'sender', 'key-of-sender'),
          COSMOS_DB_ENDPOINT: server.endpoint,
          COSMOS_DB_KEY: server.key,
        },
      }).catch((error: unknown) => error as { stdout: string });
      const lines = stdout.trim().split('\n');
      expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
      expect(lines.length).toBeGreaterThan(60);
    });
  },
  10 * minute,
);
