import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesOf, openMap, readRecords, recordOf, withDirectory } from '../support/journal-fixture.js';

type Command =
  | { readonly kind: 'put'; readonly key: number; readonly fillerBytes: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'tear'; readonly bytes: number };

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ kind: fc.constant('put'), key: fc.nat(9), fillerBytes: fc.nat(400) }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle') }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('tear'), bytes: fc.nat(400) }) },
  ),
  { maxLength: 80 },
);

function newestLog(directory: string): string {
  const numbers = filesOf(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => Number.parseInt(name, 10));
  return join(directory, `${Math.max(...numbers)}.log`);
}

/** Leaves the first bytes of a frame behind the log, as an interrupted write does. */
function tear(directory: string, frame: Buffer, bytes: number): void {
  const log = newestLog(directory);
  writeFileSync(log, Buffer.concat([readFileSync(log), frame.subarray(0, Math.min(bytes, frame.length - 1))]));
}

async function frameOf(record: Buffer): Promise<Buffer> {
  return withDirectory(async (directory) => {
    const { journal } = await openMap(directory);
    await journal.append(record);
    await journal.close();
    return readFileSync(join(directory, '0.log'));
  });
}

describe('a journal', () => {
  it('gives back the same state after any appends, reopenings, torn tails and compactions (J1–J4)', async () => {
    const frame = await frameOf(recordOf(1, 0, 400));
    await fc.assert(
      fc.asyncProperty(commands, fc.constantFrom(1, 500, 3_000, 1_000_000), (steps, compactAfterBytes) =>
        withDirectory(async (directory) => {
          const model = new Map<number, Buffer>();
          let map = await openMap(directory, { compactAfterBytes });
          let appends: Promise<void>[] = [];
          for (const [version, step] of steps.entries()) {
            if (step.kind === 'put') {
              const record = recordOf(step.key, version, step.fillerBytes);
              model.set(step.key, record);
              appends.push(map.put(record));
              continue;
            }
            await Promise.all(appends);
            appends = [];
            if (step.kind === 'settle') continue;
            await map.journal.close();
            if (step.kind === 'tear') tear(directory, frame, step.bytes);
            map = await openMap(directory, { compactAfterBytes });
            expect(map.state).toEqual(model);
          }
          await map.journal.close();
        }),
      ),
      { seed: 20_261, numRuns: 100 },
    );
  });

  it('gives back a prefix of its records when its log is cut at any byte (J2, J3)', async () => {
    const sizes = fc.array(fc.nat(300), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), (recordSizes, cut) =>
        withDirectory(async (directory) => {
          const records = recordSizes.map((size, index) => recordOf(index, index, size));
          const { journal } = await openMap(directory);
          await Promise.all(records.map((record) => journal.append(record)));
          await journal.close();
          const log = join(directory, '0.log');
          const length = cut % (statSync(log).size + 1);
          truncateSync(log, length);
          const kept = await readRecords(directory);
          expect(kept).toEqual(records.slice(0, kept.length));
          const keptBytes = kept.reduce((sum, record) => sum + 8 + record.length, 0);
          const next = records[kept.length];
          expect(keptBytes).toBeLessThanOrEqual(length);
          if (next !== undefined) expect(keptBytes + 8 + next.length).toBeGreaterThan(length);
        }),
      ),
      { seed: 20_262, numRuns: 100 },
    );
  });

  it('never gives back a changed record, whichever byte of its log was changed (J3)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), (position, difference) =>
        withDirectory(async (directory) => {
          const records = Array.from({ length: 10 }, (_, index) => recordOf(index, index, index * 5));
          const { journal } = await openMap(directory);
          await Promise.all(records.map((record) => journal.append(record)));
          await journal.close();
          const log = join(directory, '0.log');
          const bytes = readFileSync(log);
          const offset = position % bytes.length;
          bytes.writeUInt8(bytes.readUInt8(offset) ^ difference, offset);
          writeFileSync(log, bytes);
          const kept = await readRecords(directory).catch((error: unknown) => String(error));
          if (typeof kept === 'string') expect(kept).toContain('damaged');
          else expect(kept).toEqual(records.slice(0, -1));
        }),
      ),
      { seed: 20_263, numRuns: 100 },
    );
  });
});
