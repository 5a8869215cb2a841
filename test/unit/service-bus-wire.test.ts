import rhea from 'rhea';
import { expect, test } from 'vitest';
import type { Message } from '../../local/service-bus/queue/message.js';
import { setApplicationProperties, textProperty } from '../../local/service-bus/wire/application-properties.js';
import { encodeDelivery } from '../../local/service-bus/wire/delivery.js';
import { checkFrames } from '../../local/service-bus/wire/frame-check.js';
import { batchFormat, readBatch, readIncoming } from '../../local/service-bus/wire/incoming.js';
import {
  newLockToken,
  tagToToken,
  tokenToTag,
  tokenToUuid,
  uuidToToken,
} from '../../local/service-bus/wire/lock-token.js';

const { message: codec, types } = rhea;

function stored(raw: Buffer, change: Partial<Message> = {}): Message {
  return {
    sequence: 7,
    enqueueSequence: 3,
    messageId: 'm',
    raw,
    enqueuedAt: 1_700_000_000_123,
    expiresAt: Infinity,
    timeToLiveMs: undefined,
    scheduledFor: 0,
    wasScheduled: false,
    deadLetterSource: '',
    state: 'active',
    deliveryCount: 2,
    lock: undefined,
    removed: false,
    ...change,
  };
}

/** A message with values whose AMQP types JavaScript cannot tell apart. */
const typed = codec.encode({
  durable: true,
  priority: 9,
  ttl: 70_000,
  message_annotations: { 'x-opt-partition-key': 'p', 'x-opt-sequence-number': 1, mine: types.wrap_long(5) },
  message_id: 'm',
  subject: 's',
  application_properties: { small: types.wrap_byte(1), wide: types.wrap_long(1), real: types.wrap_float(1) },
  body: codec.data_section(Buffer.from('body')) as unknown,
});

test('a delivery keeps the bare message byte for byte', () => {
  const bare = typed.subarray(typed.indexOf(Buffer.from([0x00, 0x53, 0x73])));
  const delivered = encodeDelivery(stored(typed));
  expect(delivered.subarray(delivered.length - bare.length)).toEqual(bare);
});

test("a delivery has the sender's header with the broker's delivery count", () => {
  expect(codec.decode(encodeDelivery(stored(typed)))).toMatchObject({
    durable: true,
    priority: 9,
    ttl: 70_000,
    delivery_count: 2,
  });
});

test("a delivery has the sender's annotations, but not its claims about what only the broker knows", () => {
  const lock = { token: newLockToken(), until: 1_700_000_060_123 };
  const delivered = codec.decode(encodeDelivery(stored(typed, { lock, deadLetterSource: 'orders' })));
  expect(delivered['message_annotations']).toEqual({
    'x-opt-partition-key': 'p',
    mine: 5,
    'x-opt-enqueued-time': new Date(1_700_000_000_123),
    'x-opt-sequence-number': 7,
    'x-opt-enqueue-sequence-number': 3,
    'x-opt-message-state': 0,
    'x-opt-locked-until': new Date(1_700_000_060_123),
    'x-opt-deadletter-source': 'orders',
  });
});

test('setting application properties keeps the types of the others and every other byte', () => {
  const changed = setApplicationProperties(typed, [textProperty('Reason', 'late'), textProperty('small', 'replaced')]);
  const section = typed.indexOf(Buffer.from([0x00, 0x53, 0x74]));
  const body = Buffer.from([0x00, 0x53, 0x75]);
  expect(changed.subarray(0, section)).toEqual(typed.subarray(0, section));
  expect(changed.subarray(changed.indexOf(body))).toEqual(typed.subarray(typed.indexOf(body)));
  expect(changed.includes(encodedPair('wide'))).toBe(true);
  expect(codec.decode(changed)['application_properties']).toEqual({
    small: 'replaced',
    wide: 1,
    real: 1,
    Reason: 'late',
  });
});

function encodedPair(name: string): Buffer {
  const start = typed.indexOf(name) - 2;
  return typed.subarray(start, start + 2 + name.length + 2);
}

test('application properties can be set where there were none', () => {
  const plain = codec.encode({ message_id: 'm', body: 'x' });
  const changed = codec.decode(setApplicationProperties(plain, [textProperty('Reason', 'late')]));
  expect(changed).toMatchObject({ message_id: 'm', application_properties: { Reason: 'late' }, body: 'x' });
});

test('a message without an id gets one and keeps the other properties', () => {
  const raw = codec.encode({ subject: 's', to: 't', body: 'x' });
  const { raw: identified, messageId } = readIncoming(raw, () => 'made-up');
  expect(messageId).toBe('made-up');
  expect(codec.decode(identified)).toMatchObject({ message_id: 'made-up', subject: 's', to: 't', body: 'x' });
  const bare = Buffer.from([0x00, 0x53, 0x75, 0xa0, 1, 0x78]);
  expect(codec.decode(readIncoming(bare, () => 'made-up').raw)['message_id']).toBe('made-up');
});

test('what the queue must know is read from the message', () => {
  const raw = codec.encode({
    ttl: 5000,
    message_id: 'm',
    message_annotations: { 'x-opt-scheduled-enqueue-time': types.wrap_timestamp(1_700_000_000_000) },
    body: 'x',
  });
  expect(readIncoming(raw, () => '')).toMatchObject({
    messageId: 'm',
    timeToLiveMs: 5000,
    scheduledFor: 1_700_000_000_000,
  });
});

test('a batch holds the messages of its data sections', () => {
  const messages = ['a', 'b'].map((message_id) => codec.encode({ message_id, body: 'x' }));
  const batch = codec.encode({ body: codec.data_sections(messages) as unknown });
  expect(readBatch(batch, batchFormat).map(({ messageId }) => messageId)).toEqual(['a', 'b']);
});

test('a lock token is the same GUID in two byte orders', () => {
  const tag = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
  const token = tagToToken(tag);
  expect(tokenToUuid(token).toString('hex')).toBe('33221100554477668899aabbccddeeff');
  expect(uuidToToken(tokenToUuid(token))).toBe(token);
  expect(tokenToTag(token)).toEqual(tag);
});

test('lock tokens do not repeat', () => {
  expect(new Set(Array.from({ length: 5000 }, newLockToken)).size).toBe(5000);
});

test('complete and incomplete frames, protocol headers and heartbeats pass the frame check', () => {
  const header = Buffer.from('AMQP\x03\x01\x00\x00', 'latin1');
  const heartbeat = Buffer.from([0, 0, 0, 8, 2, 0, 0, 0]);
  const transfer = Buffer.from([0, 0, 0, 14, 2, 0, 0, 0, 0x00, 0x53, 0x14, 0xc0, 1, 0]);
  const stream = Buffer.concat([header, header, heartbeat, transfer, transfer.subarray(0, 9)]);
  for (let length = 0; length <= stream.length; length += 1) {
    expect(() => {
      checkFrames(stream.subarray(0, length), 65_536);
    }).not.toThrow();
  }
});
