// Compares the snapshots of test/infra/golden with what the Bicep files predict now, or rewrites them:
// `node infra/checks/golden.mjs validate` · `node infra/checks/golden.mjs overwrite`.
// The subscription and tenant are made up; a snapshot needs no Azure.

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const mode = process.argv[2];
if (mode !== 'validate' && mode !== 'overwrite') {
  console.error('Say what to do with the snapshots: validate or overwrite.');
  process.exit(2);
}

const golden = resolve(import.meta.dirname, '..', '..', 'test', 'infra', 'golden');
const scope = {
  '--subscription-id': '00000000-0000-0000-0000-000000000001',
  '--tenant-id': '00000000-0000-0000-0000-000000000002',
  '--location': 'westeurope',
  '--deployment-name': 'golden',
};

for (const name of ['default', 'production']) {
  const { status } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, 'bicep.mjs'),
      'snapshot',
      join(golden, `${name}.bicepparam`),
      ...['--mode', mode],
      ...Object.entries(scope).flat(),
    ],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
}
