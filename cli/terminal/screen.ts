/**
 * The output of a command: a live region on a terminal, plain lines in a pipe.
 *
 * Invariants
 * P1 In a pipe nothing is ever written twice and no control sequence is written.
 * P2 On a terminal, `print` never disturbs the live region: it writes above it.
 * P3 A line of the live region takes one row when it is drawn, however narrow the terminal is.
 */
import { inColour, withoutColour } from './paint.js';
import type { Paint } from './paint.js';
import { cutPainted, visibleWidth } from './painted-text.js';

/** The part of a stream that a screen needs; `process.stdout` is one. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Where a command writes. */
export interface Screen {
  /** True on a terminal: `draw` has an effect there. */
  readonly isLive: boolean;
  /** Characters that fit on a line; a pipe takes any number. */
  readonly width: number;
  /** Lines that fit on the screen at once. */
  readonly height: number;
  readonly paint: Paint;
  /** Writes one lasting line. */
  print(line?: string): void;
  /** Replaces the live region; does nothing in a pipe. Lines that do not fit the width are cut. */
  draw(lines: readonly string[]): void;
  /** Leaves the live region as it is; what follows is written below it. */
  keep(): void;
}

/** Creates the screen of a stream. */
export function createScreen(stream: OutputStream, environment: Readonly<Record<string, string | undefined>>): Screen {
  const isLive = stream.isTTY === true && environment['TERM'] !== 'dumb';
  const isColoured = isLive && (environment['NO_COLOR'] ?? '') === '';
  let live: readonly string[] = [];
  // The terminal may have become narrower since: then a line takes several rows.
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(visibleWidth(line) / sizeOr(stream.columns, 80)));
  const erase = (): string => {
    const rows = live.reduce((sum, line) => sum + rowsOf(line), 0);
    return rows === 0 ? '' : `\u001B[${rows}A\u001B[0J`;
  };
  const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return {
    isLive,
    get width() {
      return isLive ? sizeOr(stream.columns, 80) : Infinity;
    },
    get height() {
      return isLive ? Math.max(1, sizeOr(stream.rows, 24) - 1) : Infinity;
    },
    paint: isColoured ? inColour : withoutColour,
    print(line = '') {
      stream.write(erase() + joined([line, ...live])); // P2
    },
    draw(lines) {
      if (!isLive) return; // P1
      const before = erase();
      live = lines.map((line) => cutPainted(line, sizeOr(stream.columns, 80)));
      stream.write(before + joined(live));
    },
    keep() {
      live = [];
    },
  };
}

/** Some terminals report no size, or zero. */
function sizeOr(reported: number | undefined, usual: number): number {
  return reported === undefined || reported < 1 ? usual : reported;
}

/** The last lines that fit, after one that counts the others. */
export function newestFitting(lines: readonly string[], height: number): readonly string[] {
  if (lines.length <= height) return lines;
  const shown = lines.slice(lines.length - Math.max(0, height - 1));
  return [`… ${lines.length - shown.length} more above`, ...shown];
}
