/** What no setting shows alone: settings that exclude each other, or limits that can never be met together. */
import { callsPerStep, workflows } from '../state/order-workflow.js';

/** Settings that have a value, by name. */
export type SetSettings = Readonly<Record<string, string | undefined>>;

/** Longest time that an agent's request stays locked: `maxAutoLockRenewalDuration` of host.json; a test compares. */
export const lockRenewalMs = 300_000;

type Relation = 'at least' | 'at most' | 'less than';

/** `name` must stand in this relation to `other`. */
type Rule = readonly [name: string, relation: Relation, other: string, reason: string];

const rules: readonly Rule[] = [
  ['RETRY_MAX_BACKOFF_MS', 'at least', 'RETRY_BACKOFF_MS', 'it is the longest of these waits'],
  ['INTAKE_LOW_WATER', 'at most', 'INTAKE_HIGH_WATER', 'intake closes there and opens here'],
  ['ORDER_LIFETIME_MS', 'at least', 'STEP_DEADLINE_MS', 'else no step has its time'],
  ['AGENT_RETRY_DELAY_MS', 'less than', 'STEP_DEADLINE_MS', 'else there is no second call'],
  ['CLAIM_LEASE_MS', 'less than', 'ORDER_LIFETIME_MS', 'else a lost start ends the order'],
  ['UNRESOLVED_RETENTION_DAYS', 'at least', 'RECORD_RETENTION_DAYS', 'an order must outlive its record'],
  ['RETRY_BACKOFF_MS', 'less than', 'ORDER_LIFETIME_MS', 'else there is no second attempt'],
];

/** Every contradiction as one line that begins with the name of a setting; values are not quoted. */
export function contradictions(set: SetSettings): readonly string[] {
  return [
    ...brokerProblems(set),
    ...storeProblems(set),
    ...rules.flatMap((rule) => brokenRule(rule, set)),
    ...limitProblems(set),
  ];
}

function brokerProblems(set: SetSettings): readonly string[] {
  const names = ['ServiceBusConnection', 'ServiceBusConnection__fullyQualifiedNamespace'] as const;
  const given = names.filter((name) => name in set);
  if (given.length === 1) return [];
  return [
    given.length === 0
      ? `${names[0]}: is not set, nor is ${names[1]}`
      : `${names[0]}: expected not to be set together with ${names[1]}; triggers and senders would use different ones`,
  ];
}

/** The SDK sends no token over plain HTTP. */
function storeProblems(set: SetSettings): readonly string[] {
  const isPlain = /^http:/i.test(set['COSMOS_ENDPOINT'] ?? '');
  const isPlainWithToken = isPlain && !('COSMOS_KEY' in set);
  return isPlainWithToken
    ? ['COSMOS_ENDPOINT: expected an https address; without COSMOS_KEY a token is sent to it']
    : [];
}

function brokenRule([name, relation, other, reason]: Rule, set: SetSettings): readonly string[] {
  const [value, limit] = [Number(set[name]), Number(set[other])];
  const isBroken = { 'at least': value < limit, 'at most': value > limit, 'less than': value >= limit }[relation];
  return isBroken ? [`${name}: expected ${relation} ${other}: ${reason}`] : [];
}

function limitProblems(set: SetSettings): readonly string[] {
  const longestShare = Math.max(...workflows.flatMap(({ steps }) => steps.map(({ deadlineShare }) => deadlineShare)));
  const isLockTooShort = Number(set['STEP_DEADLINE_MS']) * longestShare > lockRenewalMs;
  const hasUselessWait =
    Number(set['EXTENDED_RETRIES']) > 0 && Number(set['EXTENDED_WAIT_MS']) >= Number(set['ORDER_LIFETIME_MS']);
  return [
    ...(isLockTooShort
      ? [
          `STEP_DEADLINE_MS: expected at most ${lockRenewalMs / longestShare}: ` +
            'a request that takes longer is delivered again (maxAutoLockRenewalDuration of host.json)',
        ]
      : []),
    ...(hasUselessWait
      ? ['EXTENDED_WAIT_MS: expected less than ORDER_LIFETIME_MS: else the order ends before the extended attempt']
      : []),
    ...retryProblems(set),
  ];
}

/**
 * The product of all retrying layers: attempts × deliveries of a request × calls in one delivery. The clients of the remote
 * services do not retry by themselves, and neither the host nor Durable repeats an agent.
 */
function retryProblems(set: SetSettings): readonly string[] {
  const maxAttempts = Number(set['MAX_FAILURES']) + Number(set['EXTENDED_RETRIES']);
  const limit = Number(set['MAX_CALLS_PER_STEP']);
  const exceeding = workflows
    .flatMap(({ steps }) => steps)
    .filter((step) => callsPerStep(step, maxAttempts) > limit)
    .map((step) => `${step.id} ${callsPerStep(step, maxAttempts)}`);
  if (exceeding.length === 0) return [];
  const list = [...new Set(exceeding)].join(', ');
  return [
    `MAX_CALLS_PER_STEP: expected at least attempts × deliveries × calls, which is for ${list}. ` +
      'Lower MAX_FAILURES or EXTENDED_RETRIES, or raise MAX_CALLS_PER_STEP',
  ];
}
