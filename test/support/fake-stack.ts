/** A stack with one fake part, to be killed: prints 'ready', then waits. */
import { PartProcess } from '../../local/part-process.js';

const [entry, port] = process.argv.slice(2);
if (entry === undefined) throw new Error('Pass the entry of the part.');

await PartProcess.start({
  name: 'service-bus',
  entry,
  environment: process.env,
  options: { port: Number(port) },
  onLine: (line) => process.stdout.write(`${line}\n`),
});
process.stdout.write('ready\n');
