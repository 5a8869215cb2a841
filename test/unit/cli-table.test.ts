import { describe, expect, it } from 'vitest';
import { cut, drawTable } from '../../cli/terminal/table.js';

const columns = [{ title: 'order' }, { title: 'n', align: 'right' }, { title: 'what', isFlexible: true }] as const;

describe('a table', () => {
  it('makes its columns as wide as their content', () => {
    const rows = [
      ['a-long-id', '7', 'claimed'],
      ['b', '12', ''],
    ];
    expect(drawTable(columns, rows)).toEqual(['order       n  what', 'a-long-id   7  claimed', 'b          12']);
  });

  it('cuts the flexible column when the screen is too narrow, and no other', () => {
    const lines = drawTable(columns, [['a-long-id', '7', 'the supervisor recovered it']], { width: 30, indent: ' ' });
    expect(lines).toEqual([' order      n  what', ' a-long-id  7  the supervisor…']);
    expect(Math.max(...lines.map((line) => line.length))).toBe(30);
  });

  it('paints cells without losing its shape', () => {
    const rows = [[{ text: 'a', style: 'good' } as const, '1', 'x']];
    const paint = (style: string, text: string) => `<${style}>${text}</>`;
    expect(drawTable(columns, rows, { paint })[1]).toBe('<good>a</>      1  x');
  });

  it('lets no line break or control character of a value reach the terminal', () => {
    expect(drawTable(columns, [['a', '1', 'two\nlines\u001B[2J']])[1]).toBe('a      1  two lines [2J');
  });

  it('cuts by characters, not by code units', () => {
    expect(cut('ä😀ö', 3)).toBe('ä😀ö');
    expect(cut('ä😀öü', 3)).toBe('ä😀…');
  });
});
