/** Who may do what: shared access rules of the namespace and of single queues. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** A right on a queue; Manage includes the other two. */
export type Right = 'Send' | 'Listen' | 'Manage';

/** A named key with its rights. */
export interface AuthorizationRule {
  readonly keyName: string;
  readonly key: string;
  readonly rights: readonly Right[];
  /** The queue the rule is for; absent: the whole namespace. */
  readonly queue?: string;
}

/** The rule every namespace has, with a key that protects nothing: it is the same on every machine. */
export const rootRule: AuthorizationRule = {
  keyName: 'RootManageSharedAccessKey',
  key: 'embedded-broker-key-for-local-development-only=',
  rights: ['Manage'],
};

const knownRights: readonly string[] = ['Send', 'Listen', 'Manage'];

/** Refuses rules that could never be used, or that a typing error made. */
export function checkRules(rules: readonly AuthorizationRule[], isQueue: (name: string) => boolean): void {
  const problems = rules.flatMap(({ keyName, key, rights, queue }) => {
    const found: string[] = [];
    if (keyName === '' || key === '') found.push('keyName and key must not be empty');
    if (rights.length === 0 || rights.some((right) => !knownRights.includes(right))) {
      found.push(`rights must be some of ${knownRights.join(', ')}`);
    }
    if (queue !== undefined && !isQueue(queue)) found.push(`queue '${queue}' is not declared`);
    return found.map((problem) => `rule ${keyName}: ${problem}`);
  });
  if (problems.length > 0) throw new Error(`The authorization rules are wrong: ${problems.join('; ')}.`);
}

/** The rules that have this name and key. */
export function rulesWithKey(
  rules: readonly AuthorizationRule[],
  keyName: string,
  key: string,
): readonly AuthorizationRule[] {
  return rules.filter((rule) => rule.keyName === keyName && isSameText(rule.key, key));
}

/** Compares in a time that tells nothing about the texts. */
function isSameText(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** Looks a rule up: a queue's own first, then the namespace's. */
export function findRule(
  rules: readonly AuthorizationRule[],
  queue: string,
  keyName: string,
): AuthorizationRule | undefined {
  const named = rules.filter((rule) => rule.keyName === keyName);
  const own = named.find((rule) => rule.queue?.toLowerCase() === queue.toLowerCase());
  return own ?? named.find((rule) => rule.queue === undefined);
}
