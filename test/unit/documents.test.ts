import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProjectRoot } from '../../local/project.js';

const root = findProjectRoot();

function documentsIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path));
}

const documents = ['README.md', 'DEVELOPERS.md', ...['docs', 'local', 'client', 'cli', 'infra'].flatMap(documentsIn)];

function read(document: string): string {
  return readFileSync(join(root, document), 'utf8');
}

/** A text without its code, in which brackets are no links. */
function prose(document: string): string {
  return read(document)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
}

interface Link {
  /** From the project's folder. */
  readonly file: string;
  readonly anchor: string | undefined;
}

function linksOf(document: string): readonly Link[] {
  return [...prose(document).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => String(target))
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { file: path === '' ? document : join(dirname(document), path), anchor };
    });
}

/** Anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): readonly string[] {
  const headings = [...read(document).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => String(heading));
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(documents)('%s', (document) => {
  it('links only to files that exist', () => {
    const missing = linksOf(document).filter(({ file }) => !existsSync(join(root, file)));
    expect(missing).toEqual([]);
  });

  it('links only to headings that exist', () => {
    const missing = linksOf(document).filter(
      ({ file, anchor }) => anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor),
    );
    expect(missing).toEqual([]);
  });
});

describe('docs/requirements.md', () => {
  const rows = [...read('docs/requirements.md').matchAll(/^\| R(\d+) +\| (.+)$/gm)];

  it('traces every requirement, once', () => {
    expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 124 }, (_, index) => index + 1));
  });

  it('names a place for each, and a test or why there is none', () => {
    for (const [, number, row = ''] of rows) {
      const [text = '', where = '', test = ''] = row.split('|').map((cell) => cell.trim());
      expect(where, `R${String(number)}`).toContain('](');
      expect(test.includes('](') || text.includes('_'), `R${String(number)}`).toBe(true);
    }
  });
});

describe('docs/cases.md', () => {
  const listed = [...read('docs/cases.md').matchAll(/^\| C(\d+) .+$/gm)].map(([row, number]) => ({ number, row }));
  const citation = /(?<![\w%])C(\d+)\b/g;

  it('lists each case once, in order', () => {
    const numbers = listed.map(({ number }) => Number(number));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('lists every case that a test cites, with the file that cites it', () => {
    const rows = new Map(listed.map(({ number, row }) => [number, row]));
    const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const missing = files.flatMap((path) =>
      [...read(join('test', path)).matchAll(citation)]
        .filter(([, number]) => rows.get(String(number))?.includes(`(../test/${path})`) !== true)
        .map(([cited]) => `${cited} in ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('docs/testing.md', () => {
  it('names every folder of tests', () => {
    const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const text = read('docs/testing.md');
    for (const { name, parentPath } of folders) expect(text).toContain(`\`${relative(root, join(parentPath, name))}/`);
  });
});
