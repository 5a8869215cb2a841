/** Which versions of an orchestration this app runs, as host.json says. Pure. */

/** The options of host.json for versions. */
export interface VersionOptions {
  readonly defaultVersion: string | null;
  readonly versionMatchStrategy: 'None' | 'Strict' | 'CurrentOrOlder';
  readonly versionFailureStrategy: 'Reject' | 'Fail';
}

/** What happens to an instance of a version: it runs, waits for an app that takes it, or fails. */
export type VersionDecision = 'run' | 'wait' | 'fail';

const numeric = /^\d+(\.\d+){1,3}$/;

/** Decides about an instance. Without a defaultVersion in host.json the app takes only instances without a version. */
export function decideVersion(version: string | null, options: VersionOptions): VersionDecision {
  const { defaultVersion, versionMatchStrategy, versionFailureStrategy } = options;
  if (versionMatchStrategy === 'None') return 'run';
  const difference = compareVersions(version ?? '', defaultVersion ?? '');
  const isTaken = versionMatchStrategy === 'Strict' ? difference === 0 : difference <= 0;
  if (isTaken) return 'run';
  return versionFailureStrategy === 'Fail' ? 'fail' : 'wait';
}

/** What to report of an instance that waits for an app that takes its version; undefined if it does not wait. */
export function waitingReport(
  { instanceId, version }: { readonly instanceId: string; readonly version: string | null },
  options: VersionOptions,
): string | undefined {
  if (decideVersion(version, options) !== 'wait') return undefined;
  const { versionMatchStrategy: strategy, defaultVersion } = options;
  const taken = defaultVersion === null ? 'none, because it has no defaultVersion' : `${strategy} ${defaultVersion}`;
  return (
    `Orchestration '${instanceId}' has version '${version ?? ''}' and waits for an app that takes it; ` +
    `host.json takes ${taken}.`
  );
}

/** Compares as System.Version where both are such, else as text without case; an empty version is the oldest. */
export function compareVersions(one: string, other: string): number {
  if (one === '' || other === '') return one.length - other.length;
  if (!numeric.test(one) || !numeric.test(other)) return compareText(one.toLowerCase(), other.toLowerCase());
  const [left, right] = [parts(one), parts(other)];
  for (const [index, part] of left.entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A missing third or fourth number is older than 0, as in System.Version. */
function parts(version: string): number[] {
  const numbers = version.split('.').map(Number);
  return [...numbers, -1, -1].slice(0, 4);
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
