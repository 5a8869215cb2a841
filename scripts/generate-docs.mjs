/**
 * `npm run docs`: writes the parts of docs/ that follow from the code. `npm run docs -- --check` only compares.
 * Needs a build.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { settingsSchema } from '../dist/functions/config/config.js';
import { agentReplySchema } from '../dist/functions/contracts/agent-reply.js';
import { agentRequestSchema } from '../dist/functions/contracts/agent-request.js';
import { orderSchema } from '../dist/functions/contracts/order.js';
import { statusMessageSchema } from '../dist/functions/contracts/status-message.js';
import { alertNames, eventNames } from '../dist/functions/telemetry/events.js';
import { transitions } from '../dist/functions/state/transitions.js';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');
const stale = [];

function put(path, content) {
  const file = join(root, path);
  const before = readOrEmpty(file);
  if (before === content) return;
  stale.push(path);
  if (isCheck) return;
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`. */
function putSection(path, name, content) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const text = readOrEmpty(join(root, path));
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path}: the marks ${start} and ${end} are missing`);
  put(path, `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`);
}

function table(head, rows) {
  const widths = head.map((title, column) => Math.max(title.length, 3, ...rows.map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function stateDiagram() {
  const arrows = Object.values(transitions).flatMap(({ name, from, to }) =>
    from.flatMap((source) => to.map((target) => ({ name, source, target }))),
  );
  const possible = arrows.filter(({ name, source, target }) => isPossible(name, source, target));
  const pairs = Map.groupBy(possible, ({ source, target }) => `${source} --> ${target}`);
  const lines = [...pairs].map(([pair, group]) => `  ${pair}: ${group.map(({ name }) => name).join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> Pending: create', ...lines, '```'].join('\n');
}

/** Rows of the table name all their sources and targets; these pairs of them do not occur. */
function isPossible(name, source, target) {
  const undoing = ['Compensating', 'CompensationFailed'];
  const sameSide = undoing.includes(source) === undoing.includes(target);
  switch (name) {
    case 'claim':
    case 'release':
    case 'recover':
    case 'fail':
    case 'abandon':
      return sameSide;
    case 'advance':
      return source === 'Processing'
        ? target !== 'CompensationFailed'
        : ['Compensating', 'Compensated', 'CompensationFailed'].includes(target);
    default:
      return true;
  }
}

function transitionTable() {
  const rows = Object.values(transitions).map(({ name, actor, from, to }) => [
    `\`${name}\``,
    actor,
    from.join(', '),
    to.join(', '),
  ]);
  return table(['transition', 'actor', 'from', 'to'], rows);
}

function settingsTable() {
  const sample = JSON.parse(readFileSync(join(root, 'local.settings.sample.json'), 'utf8')).Values;
  const rows = Object.entries(settingsSchema.shape).map(([name, schema]) => [
    `\`${name}\``,
    schema.description ?? '',
    /KEY|Connection$/.test(name) ? '(local only)' : (sample[name] ?? '(not set)').replaceAll('|', '\\|'),
  ]);
  return table(['setting', 'meaning', 'local value'], rows);
}

function messageSchemas() {
  const contracts = {
    order: orderSchema,
    'agent-request': agentRequestSchema,
    'agent-reply': agentReplySchema,
    'status-message': statusMessageSchema,
  };
  for (const [name, schema] of Object.entries(contracts)) {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    put(`docs/schemas/${name}.json`, `${JSON.stringify(json, null, 2)}\n`);
  }
}

function eventTable() {
  const names = [
    ...alertNames.map((name) => [`\`${name}\``, 'alert']),
    ...eventNames.map((name) => [`\`${name}\``, 'event']),
  ];
  return table(['name', 'kind'], names);
}

putSection('docs/state-machine.md', 'diagram', stateDiagram());
putSection('docs/state-machine.md', 'transitions', transitionTable());
putSection('docs/configuration.md', 'settings', settingsTable());
putSection('docs/operations.md', 'events', eventTable());
messageSchemas();

if (stale.length === 0) console.log('The generated documents are up to date.');
else console.log(`${isCheck ? 'Out of date' : 'Written'}: ${stale.join(', ')}`);
if (isCheck && stale.length > 0) {
  console.log('Run `npm run docs` and commit the result.');
  process.exitCode = 1;
}
