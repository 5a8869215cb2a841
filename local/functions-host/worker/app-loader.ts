/**
 * Loads the app as the Node worker does: the files that package.json `main` names (a path or a glob, in sorted order),
 * as ES modules or CommonJS by the usual rules. A file that throws blocks the app.
 */
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface PackageJson {
  readonly main?: unknown;
  readonly type?: unknown;
}

/** Imports every entry file of the app; rejects with the first file's error. */
export async function loadApp(appDirectory: string): Promise<void> {
  const packageFile = join(appDirectory, 'package.json');
  if (!existsSync(packageFile)) throw new Error(`There is no app in ${appDirectory}: it has no package.json.`);
  const manifest = JSON.parse(readFileSync(packageFile, 'utf8')) as PackageJson;
  for (const file of entryFiles(appDirectory, manifest)) {
    try {
      await loadFile(file, manifest.type === 'module');
    } catch (cause) {
      throw new Error(`The app does not load: ${file} threw ${String(cause)}`, { cause });
    }
  }
}

function entryFiles(appDirectory: string, manifest: PackageJson): string[] {
  const { main } = manifest;
  if (typeof main !== 'string' || main === '') {
    throw new Error(`package.json in ${appDirectory} has no "main". Set it to the built entry file or a glob.`);
  }
  const files = globSync(main, { cwd: appDirectory }).sort();
  if (files.length === 0) {
    throw new Error(`package.json "main" is "${main}", but ${appDirectory} has no such file. Is the app built?`);
  }
  return files.map((file) => realpathSync(resolve(appDirectory, file)));
}

async function loadFile(file: string, isModulePackage: boolean): Promise<void> {
  const extension = extname(file);
  const isEsModule = extension === '.mjs' || (isModulePackage && extension !== '.cjs');
  if (isEsModule) await import(pathToFileURL(file).href);
  else createRequire(file)(file);
}
