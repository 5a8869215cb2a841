import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDirectories, lockDirectory, ownDirectory } from '../../local/journal/index.js';
import { markName } from '../../local/journal/own-directory.js';
import { openMap, recordOf } from '../support/journal-fixture.js';

let parent: string;

beforeEach(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), 'own-directory-')));
});
afterEach(() => {
  rmSync(parent, { recursive: true });
});

/** A directory of the stack with a file in it. */
function ownWith(name: string, file: string): string {
  const directory = join(parent, name);
  ownDirectory(directory);
  writeFileSync(join(directory, file), '');
  return directory;
}

/** A directory that somebody else made, with a file in it. */
function foreignWith(name: string, file: string): string {
  const directory = join(parent, name);
  mkdirSync(directory);
  writeFileSync(join(directory, file), 'mine');
  return directory;
}

describe('a directory of the stack', () => {
  it('is made, or taken when it is empty, and recognised from then on', () => {
    mkdirSync(join(parent, 'empty'));
    for (const name of ['missing', 'empty']) {
      const directory = ownWith(name, '0.log');
      ownDirectory(directory);
      expect(readdirSync(directory)).toContain(markName);
    }
  });

  it.each(['README.md', '0.log', '7.snapshot', '.git'])('is none that holds a foreign file %s', (file) => {
    const directory = foreignWith('foreign', file);
    expect(() => {
      ownDirectory(directory);
    }).toThrow(`was not made by the local stack: it holds ${file}`);
    expect(readdirSync(directory)).toEqual([file]);
  });

  it('opens no journal over foreign files, and changes none of them', async () => {
    const directory = foreignWith('foreign', '0.log');
    await expect(openMap(directory)).rejects.toThrow('was not made by the local stack');
    expect(readFileSync(join(directory, '0.log'), 'utf8')).toBe('mine');
    expect(readdirSync(directory)).toEqual(['0.log']);
  });
});

describe('emptying directories', () => {
  it('removes everything from those that the stack made, passes over missing ones, and they can be used again', async () => {
    const journal = join(parent, 'journal');
    const before = await openMap(journal);
    await before.put(recordOf(1, 1));
    await before.journal.close();
    const other = ownWith('other', 'file');
    mkdirSync(join(other, 'folder'));
    writeFileSync(join(other, 'folder', 'file'), '');
    emptyDirectories([journal, other, join(parent, 'missing')]);
    expect(readdirSync(other)).toEqual([markName]);
    expect(existsSync(join(parent, 'missing'))).toBe(false);
    const after = await openMap(journal);
    expect(after.state.size).toBe(0);
    await after.journal.close();
  });

  it('removes nothing at all when one of them is foreign', () => {
    const own = ownWith('own', '0.log');
    const foreign = foreignWith('foreign', '0.log');
    expect(() => {
      emptyDirectories([own, foreign]);
    }).toThrow(`${foreign} was not made by the local stack`);
    expect(existsSync(join(own, '0.log'))).toBe(true);
    expect(readdirSync(foreign)).toEqual(['0.log']);
  });

  it('removes nothing at all when one of them is in use', () => {
    const own = ownWith('own', '0.log');
    const used = ownWith('used', '0.log');
    const release = lockDirectory(used);
    expect(() => {
      emptyDirectories([own, used]);
    }).toThrow(`in use: process ${process.pid} holds`);
    expect([own, used].map((directory) => existsSync(join(directory, '0.log')))).toEqual([true, true]);
    release();
    emptyDirectories([own, used]);
    expect(readdirSync(used)).toEqual([markName]);
  });

  it.each<[string, (directory: string) => string]>([
    ['with a slash at its end', (directory) => `${directory}${sep}`],
    [
      'with detours',
      (directory) => join(directory, '..') + `${sep}.${sep}..${sep}` + relative(join(parent, '..'), directory),
    ],
    ['relative to where we are', (directory) => relative(process.cwd(), directory)],
    [
      'through a symbolic link',
      (directory) => {
        symlinkSync(directory, join(parent, 'link'), 'junction');
        return join(parent, 'link');
      },
    ],
    [
      'through a symbolic link above it',
      (directory) => {
        symlinkSync(parent, join(parent, 'up'), 'junction');
        return join(parent, 'up', relative(parent, directory));
      },
    ],
  ])('finds the owner of a directory that is named %s', (_spelling, spell) => {
    const used = ownWith('used', '0.log');
    const release = lockDirectory(used);
    const spelled = spell(used);
    expect(() => {
      emptyDirectories([spelled]);
    }).toThrow('in use');
    expect(() => lockDirectory(spelled)).toThrow('in use');
    expect(existsSync(join(used, '0.log'))).toBe(true);
    release();
  });

  it('leaves alone what a symbolic link inside points to', () => {
    const foreign = foreignWith('foreign', 'file');
    const own = ownWith('own', '0.log');
    symlinkSync(foreign, join(own, 'link'), 'junction');
    emptyDirectories([own]);
    expect(readdirSync(own)).toEqual([markName]);
    expect(readdirSync(foreign)).toEqual(['file']);
  });
});
