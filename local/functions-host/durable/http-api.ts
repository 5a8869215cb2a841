/** The HTTP API that the durable client calls: start, status, events, terminate, suspend, resume, purge. */
import type { Faults } from '../../faults/index.js';
import { withFault } from '../faults.js';
import { HttpError, type Answer } from '../http-exchange.js';
import { isFinished } from './instance.js';
import { managementUrls, type ManagementUrlOptions } from './management-urls.js';
import { readQuery, statusBody, statusPage } from './status.js';
import type { Delivery, TaskHub } from './task-hub.js';

/** What the API serves. */
export interface DurableApiOptions {
  readonly hub: TaskHub;
  readonly faults: Faults;
  readonly urls: ManagementUrlOptions;
  isOrchestrator(name: string): boolean;
}

/** One call. */
export interface DurableCall {
  readonly method: string;
  /** Segments after the API's root, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly continuationToken: string | undefined;
  readonly body: Buffer;
}

const forbiddenInId = /[/\\#?\p{Cc}]/u;
const maxIdLength = 100;

/** Creates the function that answers calls; throws HttpError or CutByFault. */
export function createDurableApi(options: DurableApiOptions): (call: DurableCall) => Promise<Answer> {
  return async (call) => {
    assertTaskHub(options.urls, call);
    const [root = '', id = '', verb = '', name = ''] = call.path;
    switch (root) {
      case 'orchestrators':
        if (call.method !== 'POST') throw new HttpError(405, 'An orchestration is started with POST.');
        return start(options, call, { name: id, instanceId: verb });
      case 'instances':
        return id === '' ? collection(options, call) : instance(options, call, { id, verb, name });
      case 'entities':
        throw notSupported('Entities');
      default:
        throw new HttpError(404, `There is no "${root}" in the durable HTTP API.`);
    }
  };
}

/** An absent name stands for the app's own task hub. */
function assertTaskHub({ taskHub }: ManagementUrlOptions, { query }: DurableCall): void {
  const asked = query.get('taskHub') ?? taskHub;
  if (asked.toLowerCase() !== taskHub.toLowerCase()) throw new HttpError(404, '');
}

function instance(
  options: DurableApiOptions,
  call: DurableCall,
  { id, verb, name }: { readonly id: string; readonly verb: string; readonly name: string },
): Promise<Answer> {
  if (verb === '') return call.method === 'DELETE' ? purge(options, id) : status(options, call, id);
  if (call.method !== 'POST') throw new HttpError(405, `${verb} needs POST.`);
  return verb === 'raiseEvent' ? raiseEvent(options, call, { id, name }) : control(options, call, { id, verb });
}

async function start(
  options: DurableApiOptions,
  call: DurableCall,
  { name, instanceId }: { readonly name: string; readonly instanceId: string },
): Promise<Answer> {
  const { hub, faults, urls } = options;
  if (!options.isOrchestrator(name))
    throw new HttpError(400, `The function '${name}' doesn't exist or is no orchestrator.`);
  assertId(instanceId);
  const run = async (): Promise<Answer> => {
    const outcome = await hub.start({
      name,
      input: jsonBody(call.body),
      version: call.query.get('version'),
      ...(instanceId === '' ? {} : { instanceId }),
    });
    if (outcome.kind === 'started') return accepted(urls, outcome.instanceId);
    const text = `An Orchestration instance with the status ${outcome.status} already exists.`;
    throw new HttpError(409, text);
  };
  return withFault(
    faults,
    { operation: 'startOrchestration', entity: name, dropped: () => accepted(urls, instanceId) },
    run,
  );
}

function accepted(urls: ManagementUrlOptions, instanceId: string): Answer {
  const body = managementUrls(urls, instanceId);
  return { status: 202, body, headers: { location: body['statusQueryGetUri'] ?? '', 'retry-after': '10' } };
}

async function status({ hub, urls }: DurableApiOptions, call: DurableCall, id: string): Promise<Answer> {
  const state = await hub.state(id);
  if (state === undefined) throw new HttpError(404, `No instance with ID '${id}' found.`);
  const body = statusBody(state, {
    withHistory: isTrue(call.query.get('showHistory')),
    withOutputs: isTrue(call.query.get('showHistoryOutput')),
    withInput: call.query.get('showInput')?.toLowerCase() !== 'false',
  });
  if (!isFinished(state.runtimeStatus)) {
    const location = managementUrls(urls, id)['statusQueryGetUri'] ?? '';
    return { status: 202, body, headers: { location, 'retry-after': '5' } };
  }
  const isError = state.runtimeStatus === 'Failed' && isTrue(call.query.get('returnInternalServerErrorOnFailure'));
  return { status: isError ? 500 : 200, body };
}

async function collection(options: DurableApiOptions, call: DurableCall): Promise<Answer> {
  const query = readQuery(call.query);
  if (call.method === 'DELETE') return purgeMany(options, query);
  const page = statusPage(options.hub, query, call.continuationToken);
  await options.hub.whenDurable();
  const headers = page.next === undefined ? {} : { 'x-ms-continuation-token': page.next };
  return { status: 200, body: page.bodies, headers };
}

async function purge({ hub }: DurableApiOptions, id: string): Promise<Answer> {
  switch (await hub.purge(id)) {
    case 'purged':
      return { status: 200, body: { instancesDeleted: 1 } };
    case 'running':
      throw new HttpError(412, `The instance '${id}' is not finished.`);
    case 'unknown':
      throw new HttpError(404, `No instance with ID '${id}' found.`);
  }
}

async function purgeMany({ hub }: DurableApiOptions, query: ReturnType<typeof readQuery>): Promise<Answer> {
  if (query.createdFrom === undefined) throw new HttpError(400, 'Purging by filter needs createdTimeFrom.');
  const matching = [...hub.states()].filter((state) => isFinished(state.runtimeStatus) && query.matches(state));
  const ids = matching.map((state) => state.instanceId);
  const purged = await Promise.all(ids.map((id) => hub.purge(id)));
  const instancesDeleted = purged.filter((outcome) => outcome === 'purged').length;
  if (instancesDeleted === 0) throw new HttpError(404, 'No finished instance matches.');
  return { status: 200, body: { instancesDeleted } };
}

async function raiseEvent(
  { hub, faults }: DurableApiOptions,
  call: DurableCall,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<Answer> {
  if (name === '') throw new HttpError(400, 'raiseEvent needs the name of the event.');
  if (!call.contentType.toLowerCase().startsWith('application/json')) {
    throw new HttpError(400, 'Only application/json request content is supported.');
  }
  if (call.body.length === 0) throw new HttpError(400, 'Invalid JSON content');
  const input = jsonBody(call.body);
  const run = async (): Promise<Answer> => deliveryAnswer(await hub.raiseEvent(id, name, input), id);
  return withFault(faults, { operation: 'raiseEvent', entity: name, dropped: () => ({ status: 202 }) }, run);
}

async function control(
  { hub }: DurableApiOptions,
  call: DurableCall,
  { id, verb }: { readonly id: string; readonly verb: string },
): Promise<Answer> {
  const reason = call.query.get('reason') ?? '';
  switch (verb) {
    case 'terminate':
      return deliveryAnswer(await hub.terminate(id, reason), id);
    case 'suspend':
      return deliveryAnswer(await hub.suspend(id, reason), id);
    case 'resume':
      return deliveryAnswer(await hub.resume(id, reason), id);
    case 'rewind':
    case 'restart':
      throw notSupported(verb === 'rewind' ? 'Rewind' : 'Restart');
    default:
      throw new HttpError(404, `There is no "${verb}" in the durable HTTP API.`);
  }
}

function deliveryAnswer(delivery: Delivery, id: string): Answer {
  switch (delivery) {
    case 'accepted':
      return { status: 202 };
    case 'finished':
      return { status: 410, body: `The instance '${id}' is finished.` };
    case 'unknown':
      return { status: 404, body: `No instance with ID '${id}' found.` };
  }
}

function assertId(instanceId: string): void {
  const isBad = forbiddenInId.test(instanceId) || instanceId.startsWith('@') || instanceId.length > maxIdLength;
  if (!isBad) return;
  throw new HttpError(
    400,
    `"${instanceId}" is no instance id: at most ${maxIdLength} characters, none of / \\ # ? or control characters, ` +
      'and no @ at the start.',
  );
}

/** The body as JSON text; an empty one stands for null. */
function jsonBody(body: Buffer): string {
  if (body.length === 0) return 'null';
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new HttpError(400, 'The request body is no JSON.');
  }
}

function isTrue(text: string | null): boolean {
  return text?.toLowerCase() === 'true';
}

function notSupported(what: string): HttpError {
  return new HttpError(501, `${what} is not supported by the local Functions host. Use Core Tools or Azure for it.`);
}
