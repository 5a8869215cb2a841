/** How the durable HTTP API shows instances, one or many. */
import { HttpError } from '../http-exchange.js';
import type { HistoryEvent } from './history.js';
import { eventTypes } from './history.js';
import type { InstanceState } from './instance.js';
import type { TaskHub } from './task-hub.js';

/** What of an instance is shown. */
export interface StatusOptions {
  readonly withHistory: boolean;
  readonly withOutputs: boolean;
  readonly withInput: boolean;
}

/** A filter over instances. */
export interface InstanceQuery {
  readonly createdFrom: string | undefined;
  readonly pageSize: number;
  readonly showInput: boolean;
  matches(state: InstanceState): boolean;
}

const defaultPageSize = 1000;
const typeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(eventTypes).map(([name, number]) => [number, name.charAt(0).toUpperCase() + name.slice(1)]),
);

/** The status of one instance as the client reads it. */
export function statusBody(state: InstanceState, options: StatusOptions): object {
  return {
    name: state.name,
    instanceId: state.instanceId,
    runtimeStatus: state.runtimeStatus,
    input: options.withInput ? parsed(state.input) : null,
    customStatus: parsed(state.customStatus),
    output: parsed(state.output),
    createdTime: withoutMilliseconds(state.createdTime),
    lastUpdatedTime: withoutMilliseconds(state.lastUpdatedTime),
    ...(options.withHistory ? { historyEvents: state.history.map((event) => shownEvent(event, options)) } : {}),
  };
}

/** Reads the filter of a query string. */
export function readQuery(query: URLSearchParams): InstanceQuery {
  const createdFrom = timeParameter(query, 'createdTimeFrom');
  const createdTo = timeParameter(query, 'createdTimeTo');
  const statuses = (query.get('runtimeStatus') ?? '').toLowerCase().split(',').filter(Boolean);
  const prefix = query.get('instanceIdPrefix') ?? '';
  return {
    createdFrom,
    pageSize: Number(query.get('top') ?? query.get('$top') ?? defaultPageSize),
    showInput: query.get('showInput')?.toLowerCase() !== 'false',
    matches: (state) =>
      (createdFrom === undefined || state.createdTime >= createdFrom) &&
      (createdTo === undefined || state.createdTime <= createdTo) &&
      (statuses.length === 0 || statuses.includes(state.runtimeStatus.toLowerCase())) &&
      state.instanceId.startsWith(prefix),
  };
}

/** One page of matching instances; `next` leads to the following one. */
export function statusPage(
  hub: TaskHub,
  query: InstanceQuery,
  token: string | undefined,
): { readonly bodies: readonly object[]; readonly next: string | undefined } {
  const bodies: object[] = [];
  let toSkip = token === undefined ? 0 : Number(Buffer.from(token, 'base64').toString());
  const skipped = toSkip;
  for (const state of hub.states()) {
    if (!query.matches(state)) continue;
    if (toSkip > 0) {
      toSkip -= 1;
      continue;
    }
    if (bodies.length === query.pageSize) {
      return { bodies, next: Buffer.from(String(skipped + bodies.length)).toString('base64') };
    }
    bodies.push(statusBody(state, { withHistory: false, withOutputs: false, withInput: query.showInput }));
  }
  return { bodies, next: undefined };
}

function timeParameter(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new HttpError(400, `${name} "${text}" is no date.`);
  return time.toISOString();
}

/** JSON leaves out the fields that the event does not have. */
function shownEvent(event: HistoryEvent, { withInput, withOutputs }: StatusOptions): object {
  const { Timestamp, Name, TaskScheduledId, TimerId, FireAt, Reason } = event;
  return {
    EventType: typeNames.get(event.EventType) ?? String(event.EventType),
    ...{ Timestamp, Name, TaskScheduledId, TimerId, FireAt, Reason },
    Input: withInput ? parsedIfThere(event.Input) : undefined,
    Result: withOutputs ? parsedIfThere(event.Result) : undefined,
  };
}

function parsedIfThere(json: string | null | undefined): unknown {
  return json === undefined ? undefined : parsed(json);
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

function withoutMilliseconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}
