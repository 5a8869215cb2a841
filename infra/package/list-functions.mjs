// Prints the names of the functions that a staged package registers, one JSON array: `node infra/package/list-functions.mjs <folder>`.
// A missing file or dependency fails here and not in Azure.

import { resolve } from 'node:path';
import { loadPackage } from './load-package.mjs';

console.log(JSON.stringify(await loadPackage(resolve(process.argv[2] ?? '.'))));
// Clients of the app may hold timers.
process.exit(0);
