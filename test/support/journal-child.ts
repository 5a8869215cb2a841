/** Child process of the kill test: appends versions without end and prints each once it is acknowledged. */
import { writeSync } from 'node:fs';
import { openMap, recordOf, versionOf } from './journal-fixture.js';

const keyCount = 50;

const directory = process.argv[2];
if (directory === undefined) throw new Error('Pass the directory of the journal.');

const { state, put } = await openMap(directory, { compactAfterBytes: 4_000 });
let version = Math.max(0, ...[...state.values()].map(versionOf));
writeSync(1, `opened ${version}\n`);
for (;;) {
  const first = version + 1;
  version += 1 + (version % 7);
  const appends = Array.from({ length: version - first + 1 }, (_, index) => {
    const next = first + index;
    return put(recordOf(next % keyCount, next, (next * 37) % 300));
  });
  await Promise.all(appends);
  writeSync(1, `acknowledged ${version}\n`);
}
