// Checks a topology and prints every problem: `node infra/checks/check-topology.mjs [file]`. Exit code 1: it cannot be deployed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { topologyProblems } from './topology.mjs';

const file = process.argv[2] ?? join(import.meta.dirname, '..', 'topology.json');
const problems = topologyProblems(JSON.parse(readFileSync(file, 'utf8')));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
