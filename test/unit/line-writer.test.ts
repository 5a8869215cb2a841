import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLineWriter } from '../../local/line-writer.js';

it('the lines of one turn of the event loop share one write, in their order', async () => {
  const written: string[] = [];
  const writeLine = createLineWriter((text) => written.push(text), false);
  writeLine('one');
  writeLine('two');
  await nextTurn();
  writeLine('three');
  await nextTurn();
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});

it('a writer of problems leaves out everything else', async () => {
  const written: string[] = [];
  const writeLine = createLineWriter((text) => written.push(text), true);
  writeLine("[2026-11-29T12:00:00.000Z] Executed 'Functions.submit' (Succeeded)");
  writeLine('[2026-11-29T12:00:00.000Z] fail: Error: broken');
  writeLine('[2026-11-29T12:00:00.000Z] warn: slow');
  await nextTurn();
  expect(written.join('')).toMatch(/^.*fail: Error: broken\n.*warn: slow\n$/);
});
