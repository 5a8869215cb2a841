/** Notices new builds of the app. */
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { readJsonFile } from './project.js';

const pollMs = 200;

/** Calls `onBuild` after each build of the app, which writes the entry file last; returns the function that ends this. */
export function watchApp(appDirectory: string, onBuild: () => void): () => void {
  const { main } = readJsonFile(join(appDirectory, 'package.json'), 'the app') as { readonly main: string };
  const entry = join(appDirectory, main);
  watchFile(entry, { interval: pollMs }, (now) => {
    if (now.isFile()) onBuild(); // While a build runs, the file is missing.
  });
  return () => {
    unwatchFile(entry);
  };
}
