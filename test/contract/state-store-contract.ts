/** What every state store keeps, whatever it is made of. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { PermanentError } from '../../functions/state/errors.js';
import type { RecordPage, StateStore, VersionedRecord } from '../../functions/state/ports.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { aRecord, claimed, mustFind, processedRecord } from '../support/builders.js';
import { uniqueId } from '../support/contract-targets.js';
import { startOfTime } from '../support/manual-clock.js';

/** A store under test. */
export interface StoreUnderTest {
  /** The store as another process sees it: it remembers nothing yet. */
  readonly newProcess: () => StateStore;
  /** Stores any document as it is. */
  readonly put: (document: Readonly<Record<string, unknown>> & { readonly id: string }) => Promise<void>;
  readonly close: () => Promise<void>;
}

const beginning = '1970-01-01T00:00:00.000Z';

const later = (ms: number): string => addMs(startOfTime, ms);

/** Records and documents of one test under ids of its own. */
function newFamily(): { readonly idOf: (name: string) => string; readonly isOurs: (id: string) => boolean } {
  const family = uniqueId();
  return { idOf: (name) => `${family}-${name}`, isOurs: (id) => id.startsWith(family) };
}

function stored(
  orderId: string,
  fields: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> & { id: string } {
  return { ...aRecord(), id: orderId, orderId, ...fields };
}

/** The state store contract; `open` starts a fresh or shared store. */
export function stateStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`the state store over ${name}`, () => {
    let target: StoreUnderTest | undefined;
    const store = (): StateStore => mustFind(target).newProcess();
    const put = (document: Record<string, unknown> & { id: string }): Promise<void> => mustFind(target).put(document);

    beforeAll(async () => {
      target = await open();
    });
    afterAll(() => target?.close());

    describe('writes', () => {
      it('creates a record once; a second one changes nothing (R73, R75, C16)', async () => {
        const orderId = uniqueId();
        const record = aRecord({ id: orderId, orderId });
        expect(await store().createIfAbsent(record)).toBe('created');
        expect(await store().createIfAbsent({ ...record, attempt: 7 })).toBe('exists');
        expect((await store().getLatest(orderId))?.record).toEqual(record);
      });

      it('knows nothing of an order that was never created', async () => {
        const orderId = uniqueId();
        expect(await store().get(orderId)).toBeUndefined();
        expect(await store().getLatest(orderId)).toBeUndefined();
      });

      it('replaces the version that was read, and refuses any other (I1, C23, C69)', async () => {
        const { first, second } = await twoProcesses();
        const changed = { ...first.seen.record, attempt: 1 };
        const result = await first.store.replaceIfUnchanged(changed, first.seen.etag);
        expect(result).toMatchObject({ kind: 'replaced', versioned: { record: changed } });
        expect(result).toHaveProperty('requestCharge', expect.any(Number)); // R107
        const stale = await second.store.replaceIfUnchanged({ ...second.seen.record, attempt: 9 }, second.seen.etag);
        expect(stale).toEqual({ kind: 'conflict' });
        expect((await store().getLatest(changed.orderId))?.record).toEqual(changed);
      });

      it('gives the new version, with which the next write goes on', async () => {
        const { first } = await twoProcesses();
        const once = await first.store.replaceIfUnchanged({ ...first.seen.record, attempt: 1 }, first.seen.etag);
        if (once.kind !== 'replaced') throw new Error(once.kind);
        const { record, etag } = once.versioned;
        expect(await first.store.replaceIfUnchanged({ ...record, attempt: 2 }, etag)).toMatchObject({
          kind: 'replaced',
        });
      });

      it('lets one of many simultaneous writers win (R87, C15)', async () => {
        const { first } = await twoProcesses();
        const writers = [1, 2, 3, 4, 5, 6];
        const results = await Promise.all(
          writers.map((attempt) => store().replaceIfUnchanged({ ...first.seen.record, attempt }, first.seen.etag)),
        );
        expect(results.filter(({ kind }) => kind === 'replaced')).toHaveLength(1);
      });

      it('does not create by replacing', async () => {
        const orderId = uniqueId();
        const result = await store().replaceIfUnchanged(aRecord({ id: orderId, orderId }), '"0"');
        expect(result).toEqual({ kind: 'conflict' });
        expect(await store().getLatest(orderId)).toBeUndefined();
      });

      it('keeps fields that this build does not know (T41)', async () => {
        const orderId = uniqueId();
        await put(stored(orderId, { futureField: { deep: [1, null] } }));
        const seen = mustFind(await store().getLatest(orderId));
        await store().replaceIfUnchanged({ ...seen.record, attempt: 1 }, seen.etag);
        expect((await store().getLatest(orderId))?.record).toMatchObject({
          attempt: 1,
          futureField: { deep: [1, null] },
        });
      });
    });

    describe('memory', () => {
      it('may be stale, which costs a conflict and no wrong write', async () => {
        const { first, second } = await twoProcesses();
        await first.store.replaceIfUnchanged({ ...first.seen.record, attempt: 1 }, first.seen.etag);
        const remembered = mustFind(await second.store.get(first.seen.record.orderId));
        expect(await second.store.replaceIfUnchanged(remembered.record, remembered.etag)).toEqual({ kind: 'conflict' });
        expect((await second.store.get(first.seen.record.orderId))?.record.attempt).toBe(1);
      });

      it('holds what this process has read or written, and nothing else', async () => {
        const { first } = await twoProcesses();
        const { orderId } = first.seen.record;
        expect(store().remembered(orderId)).toBeUndefined();
        await first.store.replaceIfUnchanged({ ...first.seen.record, attempt: 3 }, first.seen.etag);
        expect(first.store.remembered(orderId)?.record.attempt).toBe(3);
      });
    });

    it('calls a stored record that it can’t read a permanent fault (C61)', async () => {
      const orderId = uniqueId();
      await put(stored(orderId, { processState: 'Sleeping' }));
      await expect(store().getLatest(orderId)).rejects.toBeInstanceOf(PermanentError);
      const newer = uniqueId();
      await put(stored(newer, { schemaVersion: 99 }));
      await expect(store().getLatest(newer)).rejects.toBeInstanceOf(PermanentError);
    });

    it('counts the records of a state', async () => {
      const before = await store().count('Compensated');
      for (const orderId of [uniqueId(), uniqueId()]) await put(stored(orderId, { processState: 'Compensated' }));
      expect(await store().count('Compensated')).toBe(before + 2);
    });

    it('counts the records of a state that an attempt owns (C12)', async () => {
      const before = await store().countOwned('Compensating');
      for (const lockedBy of [null, undefined, 'X-1.1']) {
        await put(stored(uniqueId(), { processState: 'Compensating', lockedBy }));
      }
      expect(await store().countOwned('Compensating')).toBe(before + 1);
    });

    it('counts the owned records that have dispatched nothing yet', async () => {
      const before = await store().countNotBegun();
      const notBegun = { processState: 'Processing', lockedBy: 'x.1', notBegunSince: '2026-01-05T09:00:00.000Z' };
      for (const orderId of [uniqueId(), uniqueId()]) await put(stored(orderId, notBegun));
      await put(stored(uniqueId(), { ...notBegun, notBegunSince: null }));
      await put(stored(uniqueId(), { ...notBegun, notBegunSince: undefined }));
      expect(await store().countNotBegun()).toBe(before + 2);
    });

    describe('pages of waiting records', () => {
      it('hold what is free, due and of the priority, the longest due first (R84, T9, C12)', async () => {
        const { idOf, isOurs } = newFamily();
        await put(stored(idOf('second'), { notBefore: later(20) }));
        await put(stored(idOf('first'), { notBefore: later(10), lockedBy: undefined }));
        await put(stored(idOf('high'), { priority: 'high' }));
        await put(stored(idOf('owned'), { lockedBy: 'x.1' }));
        await put(stored(idOf('future'), { notBefore: later(31) }));
        await put(stored(idOf('running'), { processState: 'Processing' }));
        const query = { state: 'Pending', notBefore: later(30), pageSize: 100 } as const;
        const normal = await idsIn(store().pagePending({ ...query, priority: 'normal' }), isOurs);
        expect(normal).toEqual([idOf('first'), idOf('second')]);
        expect(await idsIn(store().pagePending({ ...query, priority: 'high' }), isOurs)).toEqual([idOf('high')]);
        expect((await idsIn(store().pagePending(query), isOurs)).sort()).toEqual([...normal, idOf('high')].sort());
      });

      it('hold a record that is due this very moment', async () => {
        const { idOf, isOurs } = newFamily();
        await put(stored(idOf('now'), { notBefore: later(30) }));
        const query = { state: 'Pending', notBefore: later(30), pageSize: 100 } as const;
        expect(await idsIn(store().pagePending(query), isOurs)).toEqual([idOf('now')]);
      });

      it('come in their size and order over all partitions, with what each cost (R106, R107)', async () => {
        const { idOf, isOurs } = newFamily();
        const numbers = [7, 2, 12, 1, 10, 3, 11, 5, 9, 4, 8, 6];
        for (const number of numbers) {
          await put(stored(idOf(`${number}`), { processState: 'Compensating', notBefore: later(-60_000 + number) }));
        }
        const query = { state: 'Compensating', notBefore: later(0), pageSize: 5 } as const;
        const pages = await pagesOf(store().pagePending(query));
        expect(Math.max(...pages.map(({ records }) => records.length))).toBeLessThanOrEqual(5);
        expect(pages.every(({ requestCharge }) => requestCharge >= 0)).toBe(true);
        const ids = pages.flatMap(({ records }) => records.map(({ record }) => record.orderId)).filter(isOurs);
        expect(ids).toEqual([...numbers].sort((a, b) => a - b).map((number) => idOf(`${number}`)));
      });
    });

    describe('pages of expired records', () => {
      const owned = (orderId: string, completeBy: unknown, fields = {}): Record<string, unknown> & { id: string } =>
        stored(orderId, { processState: 'Processing', lockedBy: `${orderId}.1`, attempt: 1, completeBy, ...fields });

      it('hold owned records whose deadline has passed, the oldest first, within the window (R104, R106, T59)', async () => {
        const { idOf, isOurs } = newFamily();
        await put(owned(idOf('young'), later(-10)));
        await put(owned(idOf('old'), later(-20)));
        await put(owned(idOf('ancient'), later(-500)));
        await put(owned(idOf('alive'), later(0)));
        await put(owned(idOf('free'), later(-10), { lockedBy: null }));
        await put(owned(idOf('done'), later(-10), { processState: 'Processed' }));
        await put(owned(idOf('undo'), later(-10), { processState: 'Compensating' }));
        const query = { state: 'Processing', completeBefore: later(0), pageSize: 100 } as const;
        const inWindow = { ...query, completeFrom: later(-100) };
        expect(await idsIn(store().pageExpired(inWindow), isOurs)).toEqual([idOf('old'), idOf('young')]);
        expect(await idsIn(store().pageExpired(query), isOurs)).toEqual([idOf('ancient'), idOf('old'), idOf('young')]);
        const undo = { ...query, state: 'Compensating' } as const;
        expect(await idsIn(store().pageExpired(undo), isOurs)).toEqual([idOf('undo')]);
      });

      it('say where they end, so that a later scan can go on there', async () => {
        const { idOf, isOurs } = newFamily();
        await put(owned(idOf('first'), later(-700_000)));
        await put(owned(idOf('bad'), later(-690_000), { failureCount: -1 }));
        const query = { state: 'Processing', completeBefore: later(-600_000), pageSize: 100 } as const;
        const pages = await pagesOf(store().pageExpired(query));
        expect(pages.find(({ unreadable }) => unreadable.some(({ id }) => isOurs(id)))?.last).toBe(later(-690_000));
      });

      it('leave no gap and no overlap between the window and what is older', async () => {
        const { idOf, isOurs } = newFamily();
        await put(owned(idOf('edge'), later(-100)));
        const query = { state: 'Processing', pageSize: 100 } as const;
        const window = { ...query, completeBefore: later(0), completeFrom: later(-100) };
        const older = { ...query, completeBefore: later(-100) };
        expect(await idsIn(store().pageExpired(window), isOurs)).toEqual([idOf('edge')]);
        expect(await idsIn(store().pageExpired(older), isOurs)).toEqual([]);
      });

      it('name documents they can’t read, and go on (C11, C42)', async () => {
        const { idOf, isOurs } = newFamily();
        await put(owned(idOf('offset'), '2026-01-01T09:00:00+09:00'));
        await put(owned(idOf('good'), later(-10)));
        await put(owned(idOf('newer'), later(-10), { schemaVersion: 99 }));
        const query = { state: 'Processing', completeBefore: later(0), pageSize: 100 } as const;
        const pages = await pagesOf(store().pageExpired(query));
        const unreadable = pages.flatMap((page) => page.unreadable).filter(({ id }) => isOurs(id));
        expect(Object.fromEntries(unreadable.map(({ id, kind }) => [id, kind]))).toEqual({
          [idOf('offset')]: 'malformed',
          [idOf('newer')]: 'newer',
        });
        expect(await idsIn(store().pageExpired(query), isOurs)).toEqual([idOf('good')]);
      });

      it('hold owned records without any deadline, once they are old enough (C2, T1, T8)', async () => {
        const { idOf, isOurs } = newFamily();
        await put(owned(idOf('null'), null, { updatedAt: later(-50) }));
        await put(owned(idOf('missing'), undefined, { updatedAt: later(-50) }));
        await put(owned(idOf('young'), null, { updatedAt: later(0) }));
        await put(owned(idOf('free'), null, { updatedAt: later(-50), lockedBy: null }));
        await put(owned(idOf('dated'), later(-10), { updatedAt: later(-50) }));
        const found = await idsIn(store().pageWithoutDeadline('Processing', later(-10), 100), isOurs);
        expect(found.sort()).toEqual([idOf('missing'), idOf('null')]);
      });
    });

    it('pages finished records whose status still waits, the longest first, from any time on (T53)', async () => {
      const { idOf, isOurs } = newFamily();
      const finished = { ...processedRecord(), outboxSince: later(-50) };
      await put({ ...finished, id: idOf('waiting'), orderId: idOf('waiting') });
      await put({ ...finished, id: idOf('young'), orderId: idOf('young'), outboxSince: later(0) });
      await put({ ...finished, id: idOf('sent'), orderId: idOf('sent'), outbox: [], outboxSince: null });
      await put({ ...claimed(), id: idOf('running'), orderId: idOf('running'), outboxSince: later(-50) });
      await put({ ...finished, id: idOf('long'), orderId: idOf('long'), outboxSince: later(-70) });
      const query = { since: later(-10), pageSize: 100 };
      expect(await idsIn(store().pageUnsent(query), isOurs)).toEqual([idOf('long'), idOf('waiting')]);
      const goingOn = { ...query, from: later(-50) };
      expect(await idsIn(store().pageUnsent(goingOn), isOurs)).toEqual([idOf('waiting')]);
    });

    it('pages every document by its last change, also those that nothing else ever finds (C11, C12, C42, C61)', async () => {
      const { idOf, isOurs } = newFamily();
      const strange: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
        lower: { processState: 'processing' },
        empty: { processState: '' },
        none: { processState: undefined },
        number: { processState: 'Processing', lockedBy: 'x.1', completeBy: 1767225600000 },
        compact: { processState: 'Processing', lockedBy: 'x.1', completeBy: '20260101T000000Z' },
        owner: { lockedBy: '' },
        due: { notBefore: undefined },
        newer: { schemaVersion: 99, processState: 'Sleeping' },
      };
      for (const [name, fields] of Object.entries(strange)) await put(stored(idOf(name), fields));
      await put(stored(idOf('good')));
      const pages = await pagesOf(store().pageChanged(beginning, 2));
      const found = pages.flatMap(({ unreadable }) => unreadable.map(({ id }) => id)).filter(isOurs);
      expect(found.sort()).toEqual(Object.keys(strange).map(idOf).sort());
      const records = pages.flatMap((page) => page.records.map(({ record }) => record.orderId));
      expect(records.filter(isOurs)).toEqual([idOf('good')]);
      const times = pages.flatMap(({ last }) => last ?? []);
      expect(times).toEqual([...times].sort());
    });

    it('pages nothing that has not changed since', async () => {
      const { idOf, isOurs } = newFamily();
      await put(stored(idOf('good')));
      const [page] = (await pagesOf(store().pageChanged(beginning, 1_000))).slice(-1);
      const last = mustFind(page?.last);
      expect(await idsIn(store().pageChanged(last, 1_000), isOurs)).toEqual([idOf('good')]);
      expect(await idsIn(store().pageChanged(addMs(last, 1_000), 1_000), () => true)).toEqual([]);
    });

    /** The same new record as two processes see it. */
    async function twoProcesses(): Promise<Record<'first' | 'second', { store: StateStore; seen: VersionedRecord }>> {
      const orderId = uniqueId();
      await store().createIfAbsent(aRecord({ id: orderId, orderId }));
      const see = async (own: StateStore): Promise<{ store: StateStore; seen: VersionedRecord }> => ({
        store: own,
        seen: mustFind(await own.get(orderId)),
      });
      return { first: await see(store()), second: await see(store()) };
    }
  });
}

async function pagesOf(pages: AsyncIterable<RecordPage>): Promise<readonly RecordPage[]> {
  const all: RecordPage[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

async function idsIn(pages: AsyncIterable<RecordPage>, isOurs: (id: string) => boolean): Promise<string[]> {
  const records = (await pagesOf(pages)).flatMap((page) => page.records.map(({ record }): StateRecord => record));
  return records.map(({ orderId }) => orderId).filter(isOurs);
}
