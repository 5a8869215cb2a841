/** The app's own events and alerts, taken from what the host prints. */

/** One event or alert with its fields. */
export type LoggedEvent = Readonly<Record<string, unknown>>;

/** What the app has told so far. */
export interface AppLog {
  /** Takes a line of the stack's output. */
  readonly take: (line: string) => void;
  /** Events of a name, of one order only when it is given. */
  events(name: string, orderId?: string): readonly LoggedEvent[];
  /** Alerts of an order. */
  alerts(orderId: string): readonly string[];
  /** Ids of the orders and documents that an alert of this name was raised for. */
  alerted(name: string): readonly unknown[];
  /** All lines, for a failed test's reader. */
  readonly lines: readonly string[];
}

/** Creates an empty log. */
export function createAppLog(): AppLog {
  const lines: string[] = [];
  const entries: LoggedEvent[] = [];
  return {
    lines,
    take(line) {
      lines.push(line);
      const entry = parseEntry(line);
      if (entry !== undefined) entries.push(entry);
    },
    alerted: (name) => entries.flatMap(({ alert, ...fields }) => (alert === name ? Object.values(fields) : [])),
    events: (name, orderId) =>
      entries.filter((entry) => entry['event'] === name && (orderId === undefined || entry['orderId'] === orderId)),
    alerts: (orderId) =>
      entries.flatMap(({ alert, orderId: about }) => (about === orderId && typeof alert === 'string' ? [alert] : [])),
  };
}

function parseEntry(line: string): LoggedEvent | undefined {
  const json = /\{"(?:event|alert)":.*\}/.exec(line)?.[0];
  if (json === undefined) return undefined;
  return JSON.parse(json) as LoggedEvent;
}
