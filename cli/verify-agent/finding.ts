/** What a check found out, and in one line what was seen. */
export interface Finding {
  /** `notApplicable`: it could not be looked at; what was seen says why. */
  readonly kind: 'passed' | 'failed' | 'notApplicable';
  readonly seen: string;
}

export function passed(seen: string): Finding {
  return { kind: 'passed', seen };
}

export function failed(seen: string): Finding {
  return { kind: 'failed', seen };
}

export function notApplicable(seen: string): Finding {
  return { kind: 'notApplicable', seen };
}

/** Failed with all that is wrong, or passed. */
export function judged(problems: readonly string[], seenWhenGood: string): Finding {
  return problems.length === 0 ? passed(seenWhenGood) : failed(problems.join('; '));
}
