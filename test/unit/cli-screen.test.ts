import { describe, expect, it } from 'vitest';
import { visibleWidth } from '../../cli/terminal/painted-text.js';
import { createScreen, newestFitting } from '../../cli/terminal/screen.js';

function recordingStream(options: { readonly isTTY?: boolean; readonly rows?: number } = {}) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { ...options, columns: 40, write, text: () => written.join('') };
}

/** What a terminal shows in the end: cursor up and erase below are all that it must understand. */
function shownBy(output: string): readonly string[] {
  const lines: string[] = [];
  // eslint-disable-next-line no-control-regex -- the escape sequences are what is tested
  for (const part of output.split(/(?=\u001B\[\d+A)/)) {
    // eslint-disable-next-line no-control-regex -- see above
    const [, up = '0', rest = part] = /^\u001B\[(\d+)A\u001B\[0J([\s\S]*)$/.exec(part) ?? [];
    lines.length -= Number(up);
    lines.push(...rest.split('\n').slice(0, -1));
  }
  return lines;
}

describe('the screen', () => {
  it('writes plain lines into a pipe, and no live region (P1)', () => {
    const stream = recordingStream();
    const screen = createScreen(stream, {});
    screen.draw(['live']);
    screen.print('one');
    screen.draw(['live again']);
    screen.print(screen.paint('good', 'two'));
    expect(stream.text()).toBe('one\ntwo\n');
  });

  it('replaces the live region and writes lasting lines above it (P2)', () => {
    const stream = recordingStream({ isTTY: true });
    const screen = createScreen(stream, {});
    screen.draw(['first', 'state']);
    screen.print('note');
    screen.draw(['second state']);
    expect(shownBy(stream.text())).toEqual(['note', 'second state']);
  });

  it('keeps the last live region and goes on below it', () => {
    const stream = recordingStream({ isTTY: true });
    const screen = createScreen(stream, {});
    screen.draw(['last state']);
    screen.keep();
    screen.print('the end');
    expect(shownBy(stream.text())).toEqual(['last state', 'the end']);
  });

  it('colours on a terminal, but not when NO_COLOR says so', () => {
    const paint = (environment: Record<string, string>) =>
      createScreen(recordingStream({ isTTY: true }), environment).paint('good', 'x');
    expect(paint({})).toContain('\u001B[32m');
    expect(paint({ NO_COLOR: '1' })).toBe('x');
  });

  it('takes a dumb terminal for a pipe', () => {
    expect(createScreen(recordingStream({ isTTY: true }), { TERM: 'dumb' }).isLive).toBe(false);
  });

  it('shows the newest lines that fit and counts the others', () => {
    expect(newestFitting(['a', 'b', 'c', 'd'], 3)).toEqual(['… 2 more above', 'c', 'd']);
    expect(newestFitting(['a', 'b', 'c'], 3)).toEqual(['a', 'b', 'c']);
  });
});

describe('the screen of a narrow terminal', () => {
  it.each([1, 2, 10, 40])('of %i columns shows each line of the live region in one row (P3)', (columns) => {
    const stream = { ...recordingStream({ isTTY: true }), columns };
    const screen = createScreen(stream, {});
    const lines = ['x'.repeat(200), screen.paint('bad', '注文'.repeat(40)), 'short'];
    screen.draw(lines);
    screen.draw(lines);
    for (const line of shownBy(stream.text())) expect(visibleWidth(line)).toBeLessThanOrEqual(columns);
    expect(shownBy(stream.text())).toHaveLength(3);
    expect(stream.text()).toContain('\u001B[3A');
  });

  it('erases all rows of a line that wraps because the terminal has become narrower', () => {
    const stream = { ...recordingStream({ isTTY: true }), columns: 40 };
    const screen = createScreen(stream, {});
    screen.draw(['x'.repeat(30), 'short']);
    stream.columns = 10;
    screen.draw(['again']);
    expect(stream.text()).toContain('\u001B[4A');
  });

  it.each([undefined, 0])('takes the usual size for a terminal that reports %s', (size) => {
    const stream = {
      isTTY: true,
      write: () => undefined,
      ...(size === undefined ? {} : { columns: size, rows: size }),
    };
    const screen = createScreen(stream, {});
    expect([screen.width, screen.height]).toEqual([80, 23]);
  });
});
