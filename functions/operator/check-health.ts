/** Whether the app can work, as seen from outside: its settings, and the state store that they name. */
import type { AdmissionStore } from '../state/ports.js';
import type { OperatorAnswer } from './operate.js';

/** What the check needs. */
export interface HealthDeps {
  /** What is wrong with the settings; then nothing else is asked. */
  readonly settingProblems: readonly string[];
  /** Any read is answered if endpoint, database and rights are good. */
  readonly admission: () => Pick<AdmissionStore, 'readPause'>;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** The store must answer within this time. */
const storeTimeoutMs = 10_000;

/** Returns 200 `{status: 'healthy'}`, or 503 with `misconfigured` or `unhealthy` and every problem as one line. */
export async function checkHealth(deps: HealthDeps): Promise<OperatorAnswer> {
  const { settingProblems } = deps;
  if (settingProblems.length > 0) return { status: 503, json: { status: 'misconfigured', problems: settingProblems } };
  const problem = await storeProblem(deps);
  if (problem === undefined) return { status: 200, json: { status: 'healthy' } };
  const line = `COSMOS_ENDPOINT, COSMOS_DATABASE: the state store cannot be read: ${problem}`;
  return { status: 503, json: { status: 'unhealthy', problems: [line] } };
}

async function storeProblem({ admission, wait }: HealthDeps): Promise<string | undefined> {
  const read = async (): Promise<undefined> => {
    await admission().readPause();
  };
  const timeout = async (): Promise<string> => {
    await wait(storeTimeoutMs);
    return `no answer in ${storeTimeoutMs} ms`;
  };
  try {
    return await Promise.race([read(), timeout()]);
  } catch (error) {
    return String(error);
  }
}
