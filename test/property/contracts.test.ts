/** The contracts under random input: they never throw, never leak, and what they take means the same to everybody. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAgentReply } from '../../functions/contracts/agent-reply.js';
import { parseAgentRequest } from '../../functions/contracts/agent-request.js';
import {
  agentRequestId,
  idempotencyKey,
  orchestrationInstanceId,
  orderIdSchema,
  statusMessageId,
  stepIdSchema,
  undoIdempotencyKey,
} from '../../functions/contracts/identifiers.js';
import {
  canonicalOrder,
  differingFields,
  orderSchema,
  orderTotalMinor,
  parseOrder,
} from '../../functions/contracts/order.js';
import { parseSupervisorHint } from '../../functions/contracts/supervisor-hint.js';
import { addMs, earlier, msBetween, timestampSchema, toTimestamp } from '../../functions/contracts/timestamp.js';
import { readStateRecord } from '../../functions/state/read-record.js';
import { anOrder, claimed, orderMessage } from '../support/builders.js';

const parsers = [parseOrder, parseAgentReply, parseAgentRequest, parseSupervisorHint];

const orderId = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const stepId = fc.stringMatching(/^[a-z][a-z0-9-]{0,23}$/);
const attempt = fc.integer({ min: 1, max: 1_000_000 });
const instant = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });

describe('parsers', () => {
  it('answer anything with a value or a refusal, and never throw (C17, T51)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json(), fc.uint8Array(), fc.string()), (body) => {
        for (const parse of parsers) {
          const parsed = parse(body);
          expect(parsed.ok || parsed.rejection.description.length <= 4096).toBe(true);
        }
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  it('quote no value of the message in a refusal, wherever it stands (C7, T58)', () => {
    const secret = 'xx-secret-4711-xx';
    const fields = Object.keys(orderMessage());
    fc.assert(
      fc.property(
        fc.subarray(fields, { minLength: 1 }),
        fc.constantFrom<unknown>(secret, [secret], { a: secret }),
        (wrong, value) => {
          const parsed = parseOrder({ ...orderMessage(), ...Object.fromEntries(wrong.map((field) => [field, value])) });
          expect(JSON.stringify(parsed.ok ? '' : parsed.rejection)).not.toContain(secret);
        },
      ),
      { numRuns: 200, seed: 12 },
    );
  });

  it('read a stored document as a record, or say what is wrong; they never throw (C42)', () => {
    const fields = Object.keys(claimed());
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.anything(), (field, value) => {
        expect(['record', 'malformed', 'newer']).toContain(readStateRecord({ ...claimed(), [field]: value }).kind);
      }),
      { numRuns: 300, seed: 13 },
    );
  });
});

describe('an order', () => {
  const order = fc
    .record({
      orderId,
      customerId: fc.string({ minLength: 1, maxLength: 64 }),
      priority: fc.constantFrom('normal', 'high'),
      paymentToken: fc.string({ minLength: 1, maxLength: 128 }),
      lines: fc.array(
        fc.record({
          sku: fc.string({ minLength: 1, maxLength: 64 }),
          quantity: fc.integer({ min: 1, max: 10_000 }),
          unitPriceMinor: fc.integer({ min: 0, max: 1_000_000_000 }),
        }),
        { minLength: 1, maxLength: 20 },
      ),
    })
    .map((fields) => anOrder(fields));

  it('is the same after a way through JSON, in any order of its keys (T46)', () => {
    fc.assert(
      fc.property(order, (one) => {
        const reversed = Object.fromEntries(Object.entries(one).reverse());
        const again = orderSchema.parse(JSON.parse(JSON.stringify(reversed)));
        expect(canonicalOrder(again)).toBe(canonicalOrder(one));
        expect(differingFields(one, again)).toEqual([]);
      }),
      { numRuns: 150, seed: 14 },
    );
  });

  it('differs from another in its canonical text exactly if a field differs (C7)', () => {
    fc.assert(
      fc.property(order, order, (one, other) => {
        const isSame = canonicalOrder(one) === canonicalOrder(other);
        expect(differingFields(one, other).length === 0).toBe(isSame);
      }),
      { numRuns: 150, seed: 15 },
    );
  });

  it('costs a whole number of minor units, exactly (C29)', () => {
    fc.assert(
      fc.property(order, (one) => {
        const exact = one.lines.reduce((sum, line) => sum + BigInt(line.quantity) * BigInt(line.unitPriceMinor), 0n);
        expect(BigInt(orderTotalMinor(one))).toBe(exact);
      }),
      { numRuns: 150, seed: 16 },
    );
  });
});

describe('identifiers', () => {
  it('are different for everything that must be told apart (ID1, ID2, T31)', () => {
    const one = fc.tuple(orderId, attempt, stepId);
    fc.assert(
      fc.property(one, one, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        expect(agentRequestId(...a) === agentRequestId(...b)).toBe(isSame);
        const isSameStep = a[0] === b[0] && a[2] === b[2];
        expect(idempotencyKey(a[0], a[2]) === idempotencyKey(b[0], b[2])).toBe(isSameStep);
        expect(idempotencyKey(a[0], a[2])).not.toBe(undoIdempotencyKey(b[0], b[2]));
        const isSameAttempt = a[0] === b[0] && a[1] === b[1];
        expect(orchestrationInstanceId(a[0], a[1]) === orchestrationInstanceId(b[0], b[1])).toBe(isSameAttempt);
      }),
      { numRuns: 300, seed: 17 },
    );
  });

  it('are within the limits of all services, and go through an address unencoded (ID3, C4, C27, T18)', () => {
    fc.assert(
      fc.property(orderId, attempt, stepId, (order, number, step) => {
        expect(orderIdSchema.safeParse(order).success && stepIdSchema.safeParse(step).success).toBe(true);
        const ids = [
          orchestrationInstanceId(order, number),
          agentRequestId(order, number, step),
          statusMessageId(order, number),
        ];
        for (const id of ids) {
          expect(id.length).toBeLessThanOrEqual(128);
          expect(new URL(`/instances/${id}`, 'http://127.0.0.1').pathname).toBe(`/instances/${id}`);
        }
      }),
      { numRuns: 200, seed: 18 },
    );
  });
});

describe('times', () => {
  it('compare as text as they compare in time (C11, T62)', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        const [one, other] = [toTimestamp(a), toTimestamp(b)];
        expect(timestampSchema.parse(one)).toHaveLength(24);
        expect(one < other).toBe(a < b);
        expect(earlier(one, other)).toBe(toTimestamp(a < b ? a : b));
        expect(addMs(one, msBetween(one, other))).toBe(other);
      }),
      { numRuns: 200, seed: 19 },
    );
  });
});
