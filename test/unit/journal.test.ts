import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { filesOf, openMap, readRecords, recordOf, versionOf, withDirectory } from '../support/journal-fixture.js';

const text = (records: readonly Buffer[]): string[] => records.map((record) => record.toString());

describe.each(['never', 'always'] as const)('a journal with fsync %s', (fsync) => {
  it('replays the records in the order of their appends (J2)', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory, { fsync });
      const written = Array.from({ length: 500 }, (_, index) => `${index}:${'x'.repeat(index)}`);
      await Promise.all(written.slice(0, 250).map((record) => journal.append(Buffer.from(record))));
      for (const record of written.slice(250)) await journal.append(Buffer.from(record));
      await journal.close();
      expect(text(await readRecords(directory))).toEqual(written);
    }));

  it('holds an append in the file once it has resolved (J1)', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory, { fsync });
      await journal.append(Buffer.from('acknowledged'));
      expect(readFileSync(join(directory, '0.log'), 'latin1')).toContain('acknowledged');
      await journal.close();
    }));

  it.skipIf(process.platform === 'win32')('makes its directory for its owner alone', () =>
    withDirectory(async (directory) => {
      const own = join(directory, 'part');
      const { journal } = await openMap(own, { fsync });
      await journal.close();
      expect(statSync(own).mode & 0o777).toBe(0o700);
    }),
  );

  it('stores records larger than its buffer, and empty ones', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory, { fsync });
      const sizes = [0, 1_000_000, 3, 262_136, 262_137, 0];
      await Promise.all(sizes.map((size) => journal.append(Buffer.alloc(size, 7))));
      await journal.close();
      expect((await readRecords(directory)).map((record) => record.length)).toEqual(sizes);
    }));

  it('writes what waits when it is closed, and refuses appends from then on', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory, { fsync });
      const pending = journal.append(Buffer.from('last'));
      const closing = journal.close();
      await expect(journal.append(Buffer.from('too late'))).rejects.toThrow('closed');
      await closing;
      await pending;
      expect(text(await readRecords(directory))).toEqual(['last']);
    }));

  it('compacts while it is open, loses nothing and removes older generations (J4)', () =>
    withDirectory(async (directory) => {
      const { journal, state, put } = await openMap(directory, { fsync, compactAfterBytes: 10_000 });
      for (let version = 1; !existsSync(join(directory, '2.snapshot')); version += 1) {
        await put(recordOf(version % 20, version, 100));
      }
      await journal.close();
      const older = filesOf(directory).filter((name) => name.startsWith('0.') || name.startsWith('1.'));
      expect(older).toEqual([]);
      const reopened = await openMap(directory);
      expect(reopened.state).toEqual(state);
      await reopened.journal.close();
    }));
});

describe('a journal that was interrupted', () => {
  it('cuts off a torn tail and appends behind the last whole record (J2, J3)', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      await journal.append(Buffer.from('first'));
      await journal.close();
      const log = join(directory, '0.log');
      const frame = readFileSync(log);
      for (let length = 1; length < frame.length; length += 1) {
        appendFileSync(log, frame.subarray(0, length));
        expect(text(await readRecords(directory))).toEqual(['first']);
      }
      const reopened = await openMap(directory);
      await reopened.journal.append(Buffer.from('second'));
      await reopened.journal.close();
      expect(text(await readRecords(directory))).toEqual(['first', 'second']);
    }));

  it('takes the zero bytes that a power loss leaves for a torn tail, not for empty records (J2)', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      await journal.append(Buffer.from('first'));
      await journal.close();
      appendFileSync(join(directory, '0.log'), Buffer.alloc(4096));
      expect(text(await readRecords(directory))).toEqual(['first']);
    }));

  it('refuses to open when a record in the middle is damaged, and says where', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      for (const record of ['first', 'second', 'third']) await journal.append(Buffer.from(record));
      await journal.close();
      const log = join(directory, '0.log');
      const bytes = readFileSync(log);
      const secondFrame = 8 + 'first'.length;
      for (let offset = secondFrame; offset < secondFrame + 8 + 'second'.length; offset += 1) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(offset) ^ 0x10, offset);
        writeFileSync(log, changed);
        await expect(readRecords(directory)).rejects.toThrow(`0.log is damaged behind byte ${secondFrame}`);
      }
    }));

  it('refuses to open when a log is missing', () =>
    withDirectory(async (directory) => {
      writeFileSync(join(directory, '0.log'), '');
      writeFileSync(join(directory, '2.log'), '');
      await expect(readRecords(directory)).rejects.toThrow('a log between 0.log and the newest is missing');
    }));

  it.each([
    ['never', 'before'],
    ['never', 'after'],
    ['always', 'before'],
    ['always', 'after'],
  ] as const)(
    'has every acknowledged record at each moment of a compaction, fsync %s, applied %s the append (J4)',
    (fsync, when) =>
      withDirectory(async (parent) => {
        const directory = join(parent, 'journal');
        const acknowledged = new Map<number, number>();
        const moments: { readonly copy: string; readonly acknowledged: ReadonlyMap<number, number> }[] = [];
        const keepCopy = (): void => {
          const copy = join(parent, `moment-${moments.length}`);
          cpSync(directory, copy, { recursive: true });
          rmSync(join(copy, 'lock'));
          moments.push({ copy, acknowledged: new Map(acknowledged) });
        };
        function* observedSnapshot(): Generator<Buffer> {
          for (const [index, record] of [...map.state.values()].entries()) {
            if (index % 20 === 0) keepCopy();
            yield record;
          }
          keepCopy();
        }
        const map = await openMap(directory, { fsync, compactAfterBytes: 600_000, snapshot: observedSnapshot });
        const isCompacted = (): boolean => existsSync(join(directory, '1.snapshot'));
        // Some appends come while others are being synced, so that the switch of logs finds some waiting.
        for (let version = 1; !isCompacted(); version += 1) {
          const key = version % 100;
          const record = recordOf(key, version, 10_000);
          if (when === 'before') map.state.set(key, record);
          const appended = map.journal.append(record).then(() => {
            map.state.set(key, record);
            acknowledged.set(key, version);
          });
          if (version % 10 === 0) await appended;
          else await nextTurn();
        }
        keepCopy();
        await map.journal.close();
        expect(moments.length).toBeGreaterThan(4);
        for (const moment of moments) {
          const reopened = await openMap(moment.copy);
          for (const [key, version] of moment.acknowledged) {
            expect(versionOf(reopened.state.get(key) ?? recordOf(key, 0))).toBeGreaterThanOrEqual(version);
          }
          await reopened.journal.close();
        }
      }),
  );

  it('finishes a compaction that a close has left unfinished', () =>
    withDirectory(async (directory) => {
      const { journal, state, put } = await openMap(directory, { compactAfterBytes: 600_000 });
      for (let version = 1; !existsSync(join(directory, '1.log')); version += 1) {
        await put(recordOf(version % 100, version, 10_000));
      }
      await journal.close();
      expect(filesOf(directory)).toContain('0.log');
      const reopened = await openMap(directory);
      expect(reopened.state).toEqual(state);
      expect(filesOf(directory)).toEqual(['2.log', '2.snapshot', 'lock']);
      await reopened.journal.close();
    }));
});

describe('the lock of a journal', () => {
  it('refuses a second opening in the same process', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      await expect(openMap(directory)).rejects.toThrow(`The data directory is in use: process ${process.pid} holds`);
      await journal.close();
      await (await openMap(directory)).journal.close();
    }));

  it('refuses while another living process holds it', () =>
    withDirectory(async (directory) => {
      writeFileSync(join(directory, 'lock'), JSON.stringify({ pid: process.ppid, startedAt: null }));
      await expect(openMap(directory)).rejects.toThrow(`process ${process.ppid} holds`);
    }));

  // Linux tells when a process started, so that a pid that was given away again does not count.
  it.skipIf(!existsSync('/proc/self/stat'))('is taken over when its pid belongs to a later process now', () =>
    withDirectory(async (directory) => {
      writeFileSync(join(directory, 'lock'), JSON.stringify({ pid: process.ppid, startedAt: '1' }));
      const { journal } = await openMap(directory);
      await journal.close();
    }),
  );

  it.each([
    ['a dead process', () => JSON.stringify({ pid: spawnSync(process.execPath, ['--version']).pid, startedAt: null })],
    ['a predecessor with the same pid', () => JSON.stringify({ pid: process.pid, startedAt: '1' })],
    ['a writer that left it unreadable', () => '{'],
  ])('is taken over from %s', (_owner, content) =>
    withDirectory(async (directory) => {
      writeFileSync(join(directory, 'lock'), content());
      const { journal } = await openMap(directory);
      await journal.append(Buffer.from('mine'));
      await expect(openMap(directory)).rejects.toThrow('in use');
      await journal.close();
      expect(filesOf(directory)).toEqual(['0.log']);
    }),
  );

  it('is left alone by the close of a journal whose directory somebody else has taken over', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      rmSync(directory, { recursive: true });
      const other = await openMap(directory);
      await journal.close();
      await expect(openMap(directory)).rejects.toThrow('in use');
      await other.journal.close();
      expect(filesOf(directory)).toEqual(['0.log']);
    }));

  it('is released when the journal cannot be opened', () =>
    withDirectory(async (directory) => {
      writeFileSync(join(directory, '1.log'), '');
      await expect(openMap(directory)).rejects.toThrow('missing');
      expect(filesOf(directory)).toEqual(['1.log']);
    }));
});

describe('a journal that cannot write', () => {
  // Linux has a device that is always full.
  it.skipIf(!existsSync('/dev/full'))('rejects the append that hit a full disk and all later ones', () =>
    withDirectory(async (directory) => {
      symlinkSync('/dev/full', join(directory, '0.log'));
      const { journal } = await openMap(directory);
      await expect(journal.append(Buffer.from('lost'))).rejects.toThrow('cannot be written any more: ENOSPC');
      await expect(journal.append(Buffer.from('later'))).rejects.toThrow('cannot be written any more: ENOSPC');
      await journal.close();
    }),
  );

  it.skipIf(process.platform === 'win32')('acknowledges nothing any more once its files were removed', () =>
    withDirectory(async (directory) => {
      const { journal, put } = await openMap(directory);
      await put(recordOf(1, 1));
      rmSync(directory, { recursive: true });
      await expect(put(recordOf(1, 2))).rejects.toThrow('cannot be written any more: its file was removed');
      await expect(put(recordOf(1, 3))).rejects.toThrow('cannot be written any more');
      await journal.close();
    }),
  );

  it('rejects appends from then on when a compaction fails', () =>
    withDirectory(async (directory) => {
      const brokenSnapshot = (): never => {
        throw new Error('no snapshot today');
      };
      const { journal } = await openMap(directory, { compactAfterBytes: 1_000, snapshot: brokenSnapshot });
      const appendForever = async (): Promise<void> => {
        for (;;) await journal.append(Buffer.alloc(100));
      };
      await expect(appendForever()).rejects.toThrow('cannot be written any more: no snapshot today');
      await expect(journal.append(Buffer.from('later'))).rejects.toThrow('no snapshot today');
      await journal.close();
    }));

  it('refuses a record that is too large without harm to others', () =>
    withDirectory(async (directory) => {
      const { journal } = await openMap(directory);
      const tooLarge = Buffer.allocUnsafeSlow(256 * 1024 * 1024 + 1);
      await expect(journal.append(tooLarge)).rejects.toThrow('too large');
      await journal.append(Buffer.from('small'));
      await journal.close();
      expect(text(await readRecords(directory))).toEqual(['small']);
    }));
});
