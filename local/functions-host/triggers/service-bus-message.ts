/** What a function sees of a Service Bus message: the body by data type, and the metadata under the .NET host's names. */
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { TypedData } from '../core-api.js';
import { jsonData, textData } from '../typed-data.js';

/** How the binding wants the body: text that may be JSON, or bytes. */
export type BodyType = 'text' | 'bytes';

/** The message's body as trigger data. The receiver must not parse bodies. */
export function bodyData(message: ServiceBusReceivedMessage, type: BodyType): TypedData {
  const body: unknown = message.body;
  if (Buffer.isBuffer(body)) return type === 'bytes' ? { bytes: body } : { string: body.toString('utf8') };
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null);
  return type === 'bytes' ? { bytes: Buffer.from(text) } : { string: text };
}

/**
 * What a function gets as metadata. With a text binding the real host copies the properties of a JSON object in the body
 * over the message's own metadata, without regard to case: whoever sends a message can then set its id for the function.
 */
export function triggerMetadata(message: ServiceBusReceivedMessage, type: BodyType): Record<string, TypedData> {
  const metadata = messageMetadata(message);
  if (type === 'bytes') return metadata;
  for (const [name, data] of Object.entries(propertiesOf(bodyData(message, 'text').string ?? ''))) {
    const own = Object.keys(metadata).find((key) => key.toLowerCase() === name.toLowerCase());
    metadata[own ?? name] = data;
  }
  return metadata;
}

/** The properties of a JSON object that the real host copies: not null and no array; scalars become .NET text. */
function propertiesOf(body: string): Record<string, TypedData> {
  const properties: Record<string, TypedData> = {};
  for (const [name, value] of Object.entries(parsedObject(body))) {
    if (value === null || Array.isArray(value)) continue;
    if (typeof value === 'object') properties[name] = jsonData(value);
    else properties[name] = textData(typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value));
  }
  return properties;
}

function parsedObject(body: string): object {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** The message's metadata; absent values are missing. The first delivery has count 1, as in the .NET host. */
function messageMetadata(message: ServiceBusReceivedMessage): Record<string, TypedData> {
  const metadata: Record<string, TypedData> = {
    DeliveryCount: jsonData((message.deliveryCount ?? 0) + 1),
    ApplicationProperties: jsonData(message.applicationProperties ?? {}),
    UserProperties: jsonData(message.applicationProperties ?? {}),
  };
  for (const [name, value] of Object.entries(texts(message))) {
    if (typeof value === 'string') metadata[name] = textData(value);
    else if (value !== undefined) metadata[name] = jsonData(value);
  }
  if (message.sequenceNumber !== undefined) metadata['SequenceNumber'] = jsonData(Number(message.sequenceNumber));
  addTime(metadata, 'ExpiresAt', message.expiresAtUtc);
  addTime(metadata, 'EnqueuedTime', message.enqueuedTimeUtc);
  return metadata;
}

function texts(message: ServiceBusReceivedMessage): Record<string, string | number | Buffer | undefined> {
  return {
    DeadLetterSource: message.deadLetterSource,
    LockToken: message.lockToken,
    MessageId: message.messageId,
    ContentType: message.contentType,
    ReplyTo: message.replyTo,
    To: message.to,
    Subject: message.subject,
    Label: message.subject,
    CorrelationId: message.correlationId,
    SessionId: message.sessionId,
    ReplyToSessionId: message.replyToSessionId,
    PartitionKey: message.partitionKey,
  };
}

/** The `…Utc` twin is a .NET time without zone. */
function addTime(metadata: Record<string, TypedData>, name: string, time: Date | undefined): void {
  if (time === undefined || Number.isNaN(time.getTime())) return;
  const text = time.toISOString();
  metadata[name] = jsonData(text.replace('Z', '+00:00'));
  metadata[`${name}Utc`] = jsonData(text.slice(0, -1));
}
