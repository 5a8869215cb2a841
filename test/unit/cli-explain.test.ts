import { ServiceBusError } from '@azure/service-bus';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../cli/errors.js';
import { explain } from '../../cli/explain.js';
import { StatusTimeoutError, SubmitFailedError } from '../../client/index.js';

const unauthorized = new ServiceBusError('The token has an invalid signature.', 'UnauthorizedAccess');
const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const unknownHost = new ServiceBusError('getaddrinfo ENOTFOUND nowhere.invalid', 'GeneralError');

describe('the explanation of a failure', () => {
  it.each<[string, Error, RegExp]>([
    ['a wrong key', unauthorized, /^Service Bus refuses the access: The token has an invalid signature/],
    ['a wrong key behind the SDK’s retries', new AggregateError([unauthorized, unauthorized]), /refuses the access/],
    [
      'a wrong key behind a failed submission',
      new SubmitFailedError('a', new AggregateError([unauthorized])),
      /refuses/,
    ],
    ['a closed port', refused, /^Nothing answers there: connect ECONNREFUSED 127\.0\.0\.1:9\nCheck the address/],
    ['a closed port behind the SDK’s retries', new AggregateError([refused]), /^Nothing answers there/],
    ['an unknown host', unknownHost, /^The host is unknown: getaddrinfo ENOTFOUND nowhere\.invalid/],
    ['an unknown host as a cause', new Error('outer', { cause: unknownHost }), /^The host is unknown/],
    [
      'a missing queue',
      new AggregateError([new ServiceBusError('No x.', 'MessagingEntityNotFound')]),
      /topology\.json/,
    ],
    ['what a command has foreseen', new Error('outer', { cause: new CommandError('do this') }), /^do this$/],
    ['a status that did not come', new StatusTimeoutError('a', 5, undefined), /^No awaited status of order a/],
  ])('of %s says what to check, without a stack trace', (_failure, error, text) => {
    expect(explain(error)).toMatch(text);
    expect(explain(error)).not.toMatch(/^ +at /m);
  });

  it('of what nobody foresaw shows where it happened', () => {
    expect(explain(new RangeError('odd'))).toMatch(/^RangeError: odd\n +at /);
    expect(explain('text')).toBe('text');
  });
});
