/** Whether the app on the local host says that its settings are wrong: then the stack does not start. */

const timeoutMs = 5_000;

/**
 * Asks `GET /api/health`. An app without such a function, or one that is unhealthy for another reason, passes.
 *
 * @throws Error with every problem that the app names
 */
export async function requireGoodSettings(host: { readonly url: string; readonly hostKey: string }): Promise<void> {
  const answer = await askHealth(host);
  if (answer['status'] !== 'misconfigured') return;
  const { problems } = answer;
  const lines = Array.isArray(problems) ? problems.map((problem) => `\n  ${String(problem)}`) : [];
  throw new Error(`The app cannot start, its settings are wrong:${lines.join('')}`);
}

async function askHealth({ url, hostKey }: { url: string; hostKey: string }): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(new URL('/api/health', url), {
      headers: { 'x-functions-key': hostKey },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return (await response.json()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
