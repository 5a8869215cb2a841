/** For child processes of tests (`node --import`): lets Node load the sources, whose imports end in .js. */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isRelative = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL !== undefined;
    if (isRelative) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return nextResolve(source.href, context);
    }
    return nextResolve(specifier, context);
  },
});
