// Bundles the function app into few files: `node infra/package/bundle.mjs [folder]`; without a folder into dist/app.
//
// B1  What runs locally is what is deployed: "main" of package.json names this bundle, and the package for Azure is a copy of it.
// B2  Stack traces name TypeScript lines: main.js switches source maps on before it loads the app.
// B3  THIRD-PARTY-NOTICES.txt holds the licence of every library in the bundle; a library without a licence stops the build.
// B4  Only Node's own modules and @azure/functions-core, which the Functions worker offers, are left to be resolved at run time.
// B5  No library that is installed for development only gets into the bundle.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { thirdPartyNotices } from './notices.mjs';
import { targetFolder } from './target-folder.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const target = targetFolder(process.argv[2], join(root, 'dist', 'app'));

const libraries = 'libraries';
const entry = `// The entry of the function app; infra/package/bundle.mjs wrote it.
process.setSourceMapsEnabled(true);
await import('./app.js');
`;

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

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'main.js'), entry);
for (const { type, fileName, name, code, source } of output) {
  if (type === 'chunk') writeFileSync(join(target, fileName), name === libraries ? withoutMap(code) : code);
  else if (fileName !== `${libraries}.js.map`) writeFileSync(join(target, fileName), source);
}
const modules = output.flatMap((file) => (file.type === 'chunk' ? Object.entries(file.modules) : []));
const used = modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([file]) => file);
writeFileSync(join(target, 'THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(used));

/** The map of the libraries would be 20 times as large as the app's, and Node reads it at the start of every instance. */
function withoutMap(code) {
  return code.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
