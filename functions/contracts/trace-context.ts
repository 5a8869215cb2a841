/** How a trace goes on across the broker, whoever sends and whoever receives (C97). */

/** Where the Azure SDKs and the Functions host put the W3C trace context of a message, and look for it. */
const traceProperty = 'Diagnostic-Id';

/** The application properties of a message that belongs to a trace; none when there is no trace. */
export function traceProperties(traceparent: string | null): {
  readonly applicationProperties?: Readonly<Record<string, string>>;
} {
  return traceparent === null ? {} : { applicationProperties: { [traceProperty]: traceparent } };
}
