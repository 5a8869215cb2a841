/** Where things lie in the project, found from this file, whether it runs from dist/ or from its source. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the project's package.json. */
export function findProjectRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json found above ${import.meta.dirname}.`);
    folder = parent;
  }
  return folder;
}

/** The built entry of a part's process. */
export function findPartEntry(root: string): string {
  const entry = join(root, 'dist', 'local', 'part.js');
  if (!existsSync(entry)) throw new Error(`${entry} is missing. Build the project first: npm run build`);
  return entry;
}

/** Reads a JSON file; an error names the file and what it is for. */
export function readJsonFile(path: string, purpose: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`Cannot read ${purpose} from ${path}: ${String(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} (${purpose}) is not valid JSON: ${String(error)}`, { cause: error });
  }
}
