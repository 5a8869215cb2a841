import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { moved, withStatus, withoutSent } from '../../functions/state/record-edits.js';
import { aRecord } from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

describe('moved', () => {
  it('keeps the newest 50 entries of the history (C38)', () => {
    let record = aRecord();
    for (let count = 1; count <= 120; count += 1) {
      record = moved(record, { actor: 'starter', to: 'Pending', note: `move ${count}` }, addMs(startOfTime, count));
    }
    expect(record.history).toHaveLength(50);
    expect(record.history.at(-1)?.note).toBe('move 120');
    expect(record.history[0]?.note).toBe('move 71');
    expect(record.updatedAt).toBe(addMs(startOfTime, 120));
  });

  it('leaves the record it was given as it was', () => {
    const record = Object.freeze(aRecord());
    moved(record, { actor: 'starter', to: 'Processing', note: '' }, addMs(startOfTime, 1));
    expect(record).toMatchObject({ processState: 'Pending', updatedAt: startOfTime });
  });

  it('keeps fields that this build does not know (T41)', () => {
    const newer = { ...aRecord(), futureField: { deep: true } };
    expect(moved(newer, { actor: 'starter', to: 'Pending', note: '' }, startOfTime)).toMatchObject({
      futureField: { deep: true },
    });
  });
});

describe('the outbox', () => {
  const two = withStatus(aRecord(), 'OrderCompleted', null, addMs(startOfTime, 5));

  it('numbers its statuses one after the other (T54)', () => {
    expect(two.outbox.map(({ seq, kind }) => [seq, kind])).toEqual([
      [1, 'OrderReceived'],
      [2, 'OrderCompleted'],
    ]);
    const emptied = withoutSent(two, [1, 2]);
    expect(withStatus(emptied, 'OrderFailed', null, startOfTime).outbox[0]?.seq).toBe(3);
  });

  it('remembers since when the oldest waits, and null when none does', () => {
    expect(two.outboxSince).toBe(startOfTime);
    expect(withoutSent(two, [1]).outboxSince).toBe(addMs(startOfTime, 5));
    expect(withoutSent(two, [1, 2])).toMatchObject({ outbox: [], outboxSince: null });
    expect(withoutSent(two, [])).toBe(two);
  });

  it('keeps what was not sent', () => {
    expect(withoutSent(two, [7]).outbox).toEqual(two.outbox);
  });
});
