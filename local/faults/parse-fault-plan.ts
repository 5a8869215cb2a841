/** Checks a fault plan that came from outside: a file or a message. All its problems are named together. */
import { faultActions, type FaultPlan, type FaultRule } from './fault-plan.js';

type Json = Readonly<Record<string, unknown>>;

interface FieldRule {
  readonly holds: (value: unknown) => boolean;
  readonly expected: string;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const planFields: Readonly<Record<keyof FaultPlan, FieldRule>> = {
  seed: { holds: Number.isSafeInteger, expected: 'a whole number' },
  rules: { holds: Array.isArray, expected: 'a list of rules' },
};

const ruleFields: Readonly<Record<keyof FaultRule, FieldRule>> = {
  operation: { holds: isText, expected: 'a name of an operation' },
  entity: { holds: isText, expected: 'a name of a queue, container or function' },
  action: {
    holds: (value) => faultActions.some((action) => action === value),
    expected: `one of ${faultActions.join(', ')}`,
  },
  skip: { holds: isCount, expected: 'a whole number from 0' },
  times: { holds: (value) => isCount(value) && value !== 0, expected: 'a whole number from 1' },
  probability: {
    holds: (value) => typeof value === 'number' && value >= 0 && value <= 1,
    expected: 'a number from 0 to 1',
  },
  delayMs: { holds: isCount, expected: 'a whole number of milliseconds from 0' },
  error: { holds: isText, expected: 'a name of an error' },
};

/** Returns the plan when it is well formed, else throws an error that names each wrong rule and field. */
export function parseFaultPlan(json: unknown): FaultPlan {
  const problems = isObject(json) ? planProblems(json) : ['the plan must be an object with seed and rules'];
  if (problems.length > 0) throw new Error(`The fault plan is wrong: ${problems.join('; ')}.`);
  return json as FaultPlan;
}

function planProblems(plan: Json): string[] {
  const rules: readonly unknown[] = Array.isArray(plan['rules']) ? plan['rules'] : [];
  return [
    ...fieldProblems(plan, { fields: planFields, required: ['seed', 'rules'], at: '' }),
    ...rules.flatMap((rule, index) =>
      isObject(rule) ? ruleProblems(rule, `rules[${index}]`) : [`rules[${index}] must be an object`],
    ),
  ];
}

function ruleProblems(rule: Json, at: string): string[] {
  const action = rule['action'];
  const required = ['operation', 'action', ...(action === 'delay' ? ['delayMs'] : [])];
  const problems = fieldProblems(rule, { fields: ruleFields, required, at: `${at}.` });
  if ('delayMs' in rule && action !== 'delay') problems.push(`${at}.delayMs has an effect with action delay only`);
  if ('error' in rule && action !== 'refuse') problems.push(`${at}.error has an effect with action refuse only`);
  return problems;
}

function fieldProblems(
  value: Json,
  shape: { fields: Readonly<Record<string, FieldRule>>; required: readonly string[]; at: string },
): string[] {
  const { fields, required, at } = shape;
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, field]) => {
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (rule === undefined) return [`${at}${name} is not known; known are ${Object.keys(fields).join(', ')}`];
    return rule.holds(field) ? [] : [`${at}${name} is ${JSON.stringify(field)} and must be ${rule.expected}`];
  });
  return [...missing, ...wrong];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
