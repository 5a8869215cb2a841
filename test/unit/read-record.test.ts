import { describe, expect, it } from 'vitest';
import { readStateRecord } from '../../functions/state/read-record.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { stateSchemaVersion } from '../../functions/state/state-record.js';
import { aRecord, advanced, claimed, compensatingRecord, processedRecord } from '../support/builders.js';

const stored = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({ ...claimed(), ...fields });
const kindOf = (document: Record<string, unknown>): string => readStateRecord(document).kind;

describe('readStateRecord', () => {
  it('reads what was written, in every state', () => {
    for (const record of [aRecord(), claimed(), advanced(claimed()), compensatingRecord(), processedRecord()]) {
      const document = JSON.parse(JSON.stringify(record)) as Record<string, unknown>;
      expect(readStateRecord(document)).toEqual({ kind: 'record', record });
    }
  });

  it('keeps fields that this build does not know (T41)', () => {
    expect(readStateRecord(stored({ futureField: 1 }))).toMatchObject({ record: { futureField: 1 } });
  });

  // C12: a missing owner, deadline or count is what null and 0 are
  it('reads missing fields of an older writer as null and 0 (C12)', () => {
    const document = stored();
    for (const field of ['lockedBy', 'completeBy', 'failureCount']) Reflect.deleteProperty(document, field);
    expect(readStateRecord(document)).toMatchObject({ record: { lockedBy: null, completeBy: null, failureCount: 0 } });
  });

  // C11, C12, C42, C61
  it.each([
    { completeBy: '2026-01-01T09:00:00+09:00' },
    { completeBy: '2026-01-01T00:00:00Z' },
    { completeBy: 1767225600000 },
    { completeBy: '20260101T000000Z' },
    { processState: 'processing' },
    { processState: 'PENDING' },
    { processState: '' },
    { processState: undefined },
    { lockedBy: '' },
    { failureCount: '2' },
    { failureCount: -1 },
    { schemaVersion: undefined },
    { schemaVersion: '1' },
    { attempt: 1.5 },
    { steps: [] },
    { notBefore: null },
    { orderId: 'B-2' },
  ])('calls a record with %j malformed and names the field', (wrong) => {
    const read = readStateRecord(stored(wrong));
    expect(read.kind).toBe('malformed');
    expect(read).toHaveProperty('problem', expect.stringContaining(Object.keys(wrong)[0] ?? ''));
  });

  it('leaves a record of a newer build alone (C61, T41)', () => {
    expect(kindOf(stored({ schemaVersion: stateSchemaVersion + 1, processState: 'Sleeping' }))).toBe('newer');
    expect(kindOf(stored({ schemaVersion: 99 }))).toBe('newer');
    expect(kindOf(stored({ workflowVersion: 99 }))).toBe('newer');
  });

  it('reads a record of version 1: what it did not know is taken as the worst (R54)', () => {
    const record = advanced(claimed());
    const compensation = record.compensation.map((entry) => ({ ...entry, uncertain: undefined }));
    const read = readStateRecord({ ...record, schemaVersion: 1, outboxSince: undefined, compensation });
    expect(read).toMatchObject({ kind: 'record', record: { schemaVersion: stateSchemaVersion } });
    expect(read).toMatchObject({ record: { compensation: [{ uncertain: true }], outboxSince: record.outbox[0]?.at } });
  });

  describe('reads a record of version 2', () => {
    const asVersion2 = (record: StateRecord): Record<string, unknown> => {
      const without = <Part extends object>(part: Part): Part => ({ ...part, failureCount: undefined });
      const { steps, compensation } = record;
      const parts = { steps: steps.map(without), compensation: compensation.map(without) };
      return { ...record, schemaVersion: 2, notBegunSince: undefined, ...parts };
    };
    const upgraded = (record: StateRecord): StateRecord => {
      const read = readStateRecord(asVersion2(record));
      if (read.kind !== 'record') throw new Error(read.problem);
      return read.record;
    };

    it('and takes its failures for those of what is open, so that none is granted anew (R54, R32)', () => {
      const second = { ...advanced(advanced(claimed()), {}), failureCount: 2 };
      expect(upgraded(second).steps.map(({ failureCount }) => failureCount)).toEqual([0, 2, 0]);
      const undoing = { ...advanced(claimed(compensatingRecord())), compensationFailureCount: 1 };
      expect(upgraded(undoing).compensation.map(({ failureCount }) => failureCount)).toEqual([1, 0]);
    });

    it('and sees whether its attempt has dispatched anything', () => {
      const began = [aRecord(), advanced(claimed()), processedRecord(), compensatingRecord()];
      for (const record of [...began, claimed(), claimed(compensatingRecord())]) {
        expect(upgraded(record).notBegunSince).toBe(record.notBegunSince);
      }
    });
  });

  it('cuts the description of a document that is wrong all over', () => {
    const steps = Array.from({ length: 500 }, () => ({ id: 7 }));
    const read = readStateRecord(stored({ steps }));
    expect(read).toHaveProperty('problem');
    expect(JSON.stringify(read).length).toBeLessThan(700);
  });
});
