// Bundles the function app into few files: `node infra/package/bundle.mjs [folder] [--watch]`; without a folder into dist/app.
// With --watch it does so again after each change in functions/.
//
// B1  What runs locally is what is deployed: "main" of package.json names this bundle, and the package for Azure is a copy of it.
// B2  Stack traces name TypeScript lines: main.js switches source maps on before it loads the app.
// B3  THIRD-PARTY-NOTICES.txt holds the licence of every library in the bundle; a library without a licence stops the build.
// B4  Only Node's own modules and @azure/functions-core, which the Functions worker offers, are left to be resolved at run time.
// B5  No library that is installed for development only gets into the bundle.

import { mkdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { thirdPartyNotices } from './notices.mjs';
import { targetFolder } from './target-folder.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const { values, positionals } = parseArgs({ options: { watch: { type: 'boolean' } }, allowPositionals: true });
const target = targetFolder(positionals[0], join(root, 'dist', 'app'));

const libraries = 'libraries';
const entry = `// The entry of the function app; infra/package/bundle.mjs wrote it.
process.setSourceMapsEnabled(true);
await import('./app.js');
`;
/** An editor that saves several files makes one change of them. */
const quietMs = 100;

if (values.watch === true) await bundleOnChange();
else await bundleApp();

async function bundleApp() {
  const bundle = await rolldown({
    input: { app: join(root, 'functions', 'index.ts') },
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    // B5: the library debug uses supports-color if it is there, and here it is there for the linter.
    external: [/^node:/, '@azure/functions-core', 'supports-color'],
    onLog: (_level, { message }) => {
      // B4: for example, an import that cannot be resolved.
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    dir: target,
    format: 'esm',
    comments: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
    chunkFileNames: '[name].js',
    // The app's own code stays in a file that can be read.
    codeSplitting: { groups: [{ name: libraries, test: /[\\/]node_modules[\\/]/ }] },
  });
  await bundle.close();
  write(output);
}

function write(output) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const { type, fileName, name, code, source } of output) {
    if (type === 'chunk') writeFileSync(join(target, fileName), name === libraries ? withoutMap(code) : code);
    else if (fileName !== `${libraries}.js.map`) writeFileSync(join(target, fileName), source);
  }
  const modules = output.flatMap((file) => (file.type === 'chunk' ? Object.entries(file.modules) : []));
  const used = modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([file]) => file);
  writeFileSync(join(target, 'THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(used));
  // Last, because who waits for a new build looks at this file.
  writeFileSync(join(target, 'main.js'), entry);
}

/** The map of the libraries would be 20 times as large as the app's, and Node reads it at the start of every instance. */
function withoutMap(code) {
  return code.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

async function bundleOnChange() {
  let changes = 0;
  let wake = () => undefined;
  watch(join(root, 'functions'), { recursive: true }, () => {
    changes += 1;
    wake();
  });
  for (let bundled = 0; ;) {
    if (bundled === changes) await new Promise((resolve) => (wake = resolve));
    await delay(quietMs);
    bundled = changes;
    await bundleApp().catch((error) => console.error(error.message));
  }
}
