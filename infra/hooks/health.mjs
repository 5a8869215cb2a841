// Asks the deployed app for its health: GET /api/health with the host's function key.

import { environmentValue } from './azd.mjs';

const timeoutMs = 60_000;

/**
 * The app's report: `healthy`, `unhealthy` or `misconfigured` with its problems; `silent` if it does not answer as the app does.
 *
 * @param keysPath path in Resource Manager that lists the keys of the host
 */
export async function askHealth(manager, keysPath) {
  const { functionKeys } = await manager.post(keysPath);
  const address = `${environmentValue('SERVICE_APP_URI').replace(/\/$/, '')}/api/health`;
  try {
    const response = await fetch(address, {
      headers: { 'x-functions-key': functionKeys.default },
      signal: globalThis.AbortSignal.timeout(timeoutMs),
    });
    const { status, problems = [] } = await response.json().catch(() => ({}));
    return status === undefined ? silent(`${address} answers ${response.status}`) : { status, problems };
  } catch (error) {
    return silent(`${address}: ${error.cause?.message ?? error.message}`);
  }
}

function silent(problem) {
  const advice = 'If it stays so, the app cannot be loaded: look at the traces of the category Host.Function.Console.';
  return { status: 'silent', problems: [problem, advice] };
}
