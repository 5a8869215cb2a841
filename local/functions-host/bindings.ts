/**
 * Reads what a function is bound to. A function whose trigger, input or output the local host does not have is refused
 * with what to use instead; nothing is ignored in silence.
 */
import type { Binding } from './core-api.js';
import type { FunctionMetadata } from './core-api.js';

/** Kinds of triggers that run locally. */
export type TriggerKind =
  'httpTrigger' | 'timerTrigger' | 'serviceBusTrigger' | 'activityTrigger' | 'orchestrationTrigger';

/** A function with its trigger. */
export interface BoundFunction {
  readonly fn: FunctionMetadata;
  readonly kind: TriggerKind;
  readonly triggerName: string;
  readonly trigger: Binding;
  /** Names of the durable client bindings. */
  readonly durableClients: readonly string[];
}

const triggerKinds: ReadonlySet<string> = new Set<TriggerKind>([
  'httpTrigger',
  'timerTrigger',
  'serviceBusTrigger',
  'activityTrigger',
  'orchestrationTrigger',
]);
const durableClientTypes: ReadonlySet<string> = new Set(['durableClient', 'orchestrationClient']);

/** Options of a Service Bus trigger that change how messages arrive, and what is said about them. */
const refusedServiceBusOptions: readonly { readonly isUsed: (trigger: Binding) => boolean; readonly text: string }[] = [
  { isUsed: (trigger) => trigger['topicName'] !== undefined, text: 'topics are not supported. Use a queue' },
  { isUsed: (trigger) => trigger['isSessionsEnabled'] === true, text: 'sessions are not supported. Use a plain queue' },
  { isUsed: (trigger) => trigger['cardinality'] === 'many', text: 'batches are not supported. Use cardinality "one"' },
  {
    isUsed: (trigger) => trigger['sdkBinding'] === true,
    text: 'SDK bindings are not supported. Set sdkBinding: false',
  },
];

/** Binds all functions; throws one error that names every function that cannot run here. */
export function bindFunctions(functions: Iterable<FunctionMetadata>): BoundFunction[] {
  const bound: BoundFunction[] = [];
  const problems: string[] = [];
  for (const fn of functions) {
    const found = problemsOf(fn);
    problems.push(...found.map((problem) => `Function "${fn.name}": ${problem}.`));
    if (found.length === 0) bound.push(bind(fn));
  }
  if (problems.length === 0) return bound;
  throw new Error(
    `The local Functions host cannot run this app:\n${problems.map((problem) => `  ${problem}`).join('\n')}\n` +
      'Core Tools and Azure can. To run the rest here, disable a function with the setting AzureWebJobs.<name>.Disabled.',
  );
}

function problemsOf(metadata: FunctionMetadata): string[] {
  const retry = metadata.retryOptions === undefined ? [] : ['retry policies are not supported. Repeat in the function'];
  const ofBindings = Object.entries(metadata.bindings).flatMap(([name, binding]) => {
    if (isTrigger(binding)) return triggerProblems(binding);
    if (binding.direction === 'out') return outputProblems(metadata.bindings, name, binding);
    if (durableClientTypes.has(binding.type)) return [];
    return [`input "${binding.type}" is not supported. Read the data with the service's SDK`];
  });
  return [...retry, ...ofBindings];
}

function triggerProblems(trigger: Binding): string[] {
  if (trigger.type === 'entityTrigger') return ['durable entities are not supported. Keep the state in a database'];
  if (!triggerKinds.has(trigger.type)) return [`trigger "${trigger.type}" is not supported`];
  if (trigger.type !== 'serviceBusTrigger') return [];
  return refusedServiceBusOptions.filter(({ isUsed }) => isUsed(trigger)).map(({ text }) => text);
}

function outputProblems(bindings: Readonly<Record<string, Binding>>, name: string, output: Binding): string[] {
  const isHttpFunction = Object.values(bindings).some((binding) => binding.type === 'httpTrigger');
  if (isHttpFunction && name === '$return' && output.type.toLowerCase() === 'http') return [];
  if (output.type === 'serviceBus') {
    return ['Service Bus outputs are not supported: they send the body alone. Send with @azure/service-bus'];
  }
  return [`output "${output.type}" is not supported. Write with the service's SDK`];
}

function bind(fn: FunctionMetadata): BoundFunction {
  const bindings = Object.entries(fn.bindings);
  const [triggerName, trigger] = bindings.find(([, binding]) => isTrigger(binding)) ?? [];
  if (triggerName === undefined || trigger === undefined) {
    throw new Error(`Function "${fn.name}" has no trigger.`);
  }
  const durableClients = bindings.filter(([, binding]) => durableClientTypes.has(binding.type)).map(([name]) => name);
  return { fn, kind: trigger.type as TriggerKind, triggerName, trigger, durableClients };
}

function isTrigger(binding: Binding): boolean {
  return /trigger$/i.test(binding.type);
}
