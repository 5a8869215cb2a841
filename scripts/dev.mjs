/**
 * `npm run dev`: the local stack; each change in functions/ is bundled, and the Functions host starts again with it.
 * Takes the options of `npm run local`. Types are not checked here: the editor and `npm run typecheck` do that.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const bundler = start('infra/package/bundle.mjs', '--watch');
const stack = start('dist/local/main.js', '--watch', ...process.argv.slice(2));
// Ctrl-C reaches both; the stack then ends in its own time.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stack.kill(signal));
const [code] = await Promise.race([once(stack, 'exit'), once(bundler, 'exit')]);
bundler.kill();
stack.kill();
process.exitCode = code ?? 1;

function start(...args) {
  return spawn(process.execPath, args, { stdio: 'inherit' });
}
