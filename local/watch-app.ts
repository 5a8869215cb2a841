/** Notices new builds of the app. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonFile } from './project.js';

const pollMs = 200;

/** Calls `onBuild` after each build of the app, which writes the entry file last; returns the function that ends this. */
export function watchApp(appDirectory: string, onBuild: () => void): () => void {
  const { main } = readJsonFile(join(appDirectory, 'package.json'), 'the app') as { readonly main: string };
  const entry = join(appDirectory, main);
  let last = writtenAt(entry);
  const timer = setInterval(() => {
    const now = writtenAt(entry);
    if (now === undefined || now === last) return; // While a build runs, the file is missing.
    last = now;
    onBuild();
  }, pollMs);
  return () => {
    clearInterval(timer);
  };
}

function writtenAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
