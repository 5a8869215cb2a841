// What the hooks need of azd and of Azure Resource Manager. azd hands them the values of its environment as variables.

import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Something that only the user can repair; the message says how. */
export class HookError extends Error {}

/** Runs a hook and ends the process: a HookError as one readable line, anything else with its stack. */
export async function runHook(hook) {
  try {
    await hook();
  } catch (error) {
    console.error(error instanceof HookError ? error.message : error);
    process.exitCode = 1;
  }
}

/** A value of the azd environment that must be there. */
export function environmentValue(name) {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new HookError(`${name} is not set. Run the hook through azd ("azd hooks run"), after "azd provision".`);
  }
  return value;
}

/** Stores a value in the azd environment, so that the next run has it too. */
export async function setEnvironmentValue(name, value) {
  await azd('env', 'set', name, value);
}

/** A client of Azure Resource Manager as the user who is signed in to azd. */
export async function createResourceManager() {
  // Another address for sovereign clouds.
  const address = process.env.AZURE_RESOURCE_MANAGER_URL || 'https://management.azure.com';
  const scope = `${address.replace(/\/$/, '')}/.default`;
  const { token } = JSON.parse(await azd('auth', 'token', '--output', 'json', '--scope', scope));
  return {
    get: (path) => request(address, { method: 'GET', path, token }),
    post: (path) => request(address, { method: 'POST', path, token }),
  };
}

async function azd(...args) {
  try {
    return (await execute('azd', args)).stdout;
  } catch (error) {
    if (error.code === 'ENOENT') throw new HookError('azd was not found on PATH. Install the Azure Developer CLI.');
    throw new HookError(`azd ${args[0]} ${args[1]} failed: ${error.stderr || error.message}`);
  }
}

async function request(address, { method, path, token }) {
  const response = await fetch(`${address.replace(/\/$/, '')}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    signal: globalThis.AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new HookError(`${method} ${path.split('?')[0]} failed with ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Path of a resource in the group of the azd environment. */
export function resourcePath(type, name) {
  const subscription = environmentValue('AZURE_SUBSCRIPTION_ID');
  const group = environmentValue('AZURE_RESOURCE_GROUP');
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/${type}/${name}`;
}

/** Repeats until the answer is not undefined; a HookError with this message when the time is up. */
export async function repeatUntil(ask, { seconds, pauseSeconds, message }) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() + pauseSeconds * 1000 > end) throw new HookError(message());
    await delay(pauseSeconds * 1000);
  }
}

/** A number of seconds from the environment, or the default. */
export function secondsSetting(name, byDefault) {
  const seconds = Number(process.env[name] || byDefault);
  if (!(seconds >= 0)) throw new HookError(`${name} must be a number of seconds.`);
  return seconds;
}
