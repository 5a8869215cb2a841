import { describe, expect, it } from 'vitest';
import { decodeMessageBody, isJsonObject } from '../../functions/contracts/message-body.js';

const order = { orderId: 'A-17' };
const text = JSON.stringify(order);
const bom = '\uFEFF';

describe('a message body', () => {
  // C17, C18, V6
  it.each([
    ['an object', order],
    ['text', text],
    ['text with spaces around it', `  ${text}\n`],
    ['text in text', JSON.stringify(text)],
    ['bytes', Buffer.from(text)],
    ['bytes of text in text', Buffer.from(JSON.stringify(text))],
    ['text with a byte order mark', bom + text],
    ['bytes with a byte order mark', Buffer.from(bom + text)],
  ])('that is %s holds the order', (_name, body) => {
    expect(decodeMessageBody(body)).toEqual(order);
  });

  // C17
  it.each([
    ['a list', [order]],
    ['text of a list', '[{"orderId":"A"}]'],
    ['a number', 42],
    ['null', null],
    ['a flag', true],
    ['nothing', undefined],
    ['empty text', ''],
    ['empty bytes', Buffer.alloc(0)],
    ['broken JSON', '{bad'],
    ['text of another serialiser', '@\u0006string\b3http://schemas.microsoft.com/2003/10/Serialization/'],
    ['text in text in text', JSON.stringify(JSON.stringify(text))],
    ['text of a number', '42'],
  ])('that is %s holds none', (_name, body) => {
    expect(decodeMessageBody(body)).toBeUndefined();
  });

  it('keeps no prototype that a sender names (V11)', () => {
    const decoded = decodeMessageBody('{"__proto__":{"processState":"Processed"},"orderId":"A"}');
    expect(decoded?.['processState']).toBeUndefined();
  });
});

it('a JSON object is neither null nor a list nor bytes', () => {
  expect([{}, { a: 1 }].every(isJsonObject)).toBe(true);
  expect([null, [], Buffer.alloc(1), 'x', 1, undefined].some(isJsonObject)).toBe(false);
});
