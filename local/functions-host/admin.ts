/** The `/admin` endpoints: the host's status, the functions, and running one by hand. */
import { HttpError, type Answer } from './http-exchange.js';
import type { FunctionMetadata } from './core-api.js';

/** What the endpoints show and do. */
export interface AdminOptions {
  readonly origin: string;
  readonly routePrefix: string;
  readonly functions: readonly FunctionMetadata[];
  isDisabled(name: string): boolean;
  /** Starts one run of a function by hand; undefined when its trigger cannot be invoked so. */
  invoker(name: string): ((input: unknown) => Promise<void>) | undefined;
}

/** Creates the function that answers requests below `/admin`. */
export function createAdmin(
  options: AdminOptions,
): (method: string, path: readonly string[], body: Buffer) => Promise<Answer> {
  return (method, path, body) => {
    const [root = '', name = ''] = path.map((segment) => segment.toLowerCase());
    if (root === 'host' && name === 'status') return Promise.resolve(hostStatus());
    if (root !== 'functions') throw new HttpError(404, '');
    if (name === '') return Promise.resolve({ status: 200, body: options.functions.map((fn) => shown(options, fn)) });
    const fn = options.functions.find((candidate) => candidate.name.toLowerCase() === name);
    if (fn === undefined) throw new HttpError(404, `There is no function "${name}".`);
    if (method === 'GET') return Promise.resolve({ status: 200, body: shown(options, fn) });
    return Promise.resolve(invoke(options, fn, body));
  };
}

function hostStatus(): Answer {
  return {
    status: 200,
    body: { id: 'local', state: 'Running', version: '4.local', processUptime: Math.round(process.uptime() * 1000) },
  };
}

function shown(options: AdminOptions, { name, bindings }: FunctionMetadata): object {
  const { origin, routePrefix } = options;
  const http = Object.values(bindings).find((binding) => binding.type === 'httpTrigger');
  const path = typeof http?.['route'] === 'string' ? http['route'] : name;
  return {
    name,
    language: 'node',
    isDisabled: options.isDisabled(name),
    href: `${origin}/admin/functions/${name}`,
    invoke_url_template: http === undefined ? null : [origin, routePrefix, path].filter(Boolean).join('/'),
    config: { bindings: Object.entries(bindings).map(([bindingName, binding]) => ({ ...binding, name: bindingName })) },
  };
}

/** Answers as soon as the run has started, as Azure does. */
function invoke(options: AdminOptions, { name }: FunctionMetadata, body: Buffer): Answer {
  const run = options.invoker(name);
  if (run === undefined) {
    throw new HttpError(400, `"${name}" cannot be invoked by hand. Call its route, or send it a message.`);
  }
  void run(inputOf(body));
  return { status: 202 };
}

function inputOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return (JSON.parse(body.toString('utf8')) as { readonly input?: unknown }).input;
  } catch {
    throw new HttpError(400, 'The body is no JSON. Send {"input": …}.');
  }
}
