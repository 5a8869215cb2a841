/**
 * Decides which operations a fault hits.
 *
 * Invariants
 * F1 The same plan and the same sequence of matches give the same hits: each rule has its own random numbers, made from
 *    the plan's seed and the rule's place, so that traffic of one rule does not shift another's.
 * F2 Rules are asked in their order; the first that hits decides, and only that one counts a hit.
 */
import type { FaultPlan, FaultRule } from './fault-plan.js';

/** The faults of one part. */
export interface Faults {
  /** The rule that hits this operation, if one does. Asking counts as one match for each rule asked. */
  decide(operation: string, entity?: string): FaultRule | undefined;
  /** Sets other rules, with fresh counts; without a plan there are no faults. Ends what 'pause' holds. */
  replace(plan?: FaultPlan): void;
  /** Resolves when the rules are replaced: what an operation under 'pause' waits for. */
  whenReplaced(): Promise<void>;
  /** Hits since the start as `faults/<operation>/<entity>/<action>`, '*' for any entity; rules not hit so far show 0. */
  counters(): Readonly<Record<string, number>>;
}

interface ArmedRule {
  readonly rule: FaultRule;
  readonly key: string;
  readonly random: () => number;
  matches: number;
  hits: number;
}

/** Creates the faults of one part from a plan; without one nothing is hit until `replace`. */
export function createFaults(plan?: FaultPlan): Faults {
  const totals = new Map<string, number>();
  let armed = arm(plan, totals);
  let resume: (() => void)[] = [];
  return {
    decide(operation, entity) {
      const hit = armed.find((candidate) => matches(candidate.rule, operation, entity) && isHit(candidate));
      if (hit === undefined) return undefined;
      hit.hits += 1;
      totals.set(hit.key, (totals.get(hit.key) ?? 0) + 1);
      return hit.rule;
    },
    replace(next) {
      armed = arm(next, totals);
      const waiting = resume;
      resume = [];
      for (const go of waiting) go();
    },
    whenReplaced: () => new Promise((resolve) => resume.push(resolve)),
    counters: () => Object.fromEntries(totals),
  };
}

function arm(plan: FaultPlan | undefined, totals: Map<string, number>): ArmedRule[] {
  if (plan === undefined) return [];
  return plan.rules.map((rule, index) => {
    const key = `faults/${rule.operation}/${rule.entity ?? '*'}/${rule.action}`;
    totals.set(key, totals.get(key) ?? 0);
    return { rule, key, random: randomNumbers(plan.seed, index), matches: 0, hits: 0 };
  });
}

function matches(rule: FaultRule, operation: string, entity: string | undefined): boolean {
  return rule.operation === operation && (rule.entity === undefined || rule.entity === entity);
}

function isHit(armed: ArmedRule): boolean {
  const { skip = 0, times = Infinity, probability = 1 } = armed.rule;
  armed.matches += 1;
  if (armed.matches <= skip || armed.hits >= times) return false;
  return probability === 1 || armed.random() < probability;
}

/** A Weyl sequence through a 32-bit mixer: small, fast, and good enough to choose victims. */
function randomNumbers(seed: number, stream: number): () => number {
  let state = mix(mix(seed) + stream);
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 2 ** 32;
  };
}

function mix(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
