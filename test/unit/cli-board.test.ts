import { describe, expect, it } from 'vitest';
import { createBoard, drawBoard, inOrderOfTime } from '../../cli/orders/board.js';
import { withoutColour } from '../../cli/terminal/paint.js';
import type { StatusMessage } from '../../client/index.js';
import { orderRecord } from '../support/cli-record.js';

const view = { width: 120, paint: withoutColour };

function status(orderId: string, seq: number, at = '2030-01-01T00:00:09.000Z'): StatusMessage {
  return { schemaVersion: 1, orderId, seq, status: 'OrderReceived', at };
}

const accepted = {
  at: '2030-01-01T00:00:00.000Z',
  actor: 'submit',
  from: null,
  to: 'Pending',
  attempt: 0,
  note: 'order accepted',
};
const claimed = {
  ...accepted,
  at: '2030-01-01T00:00:01.000Z',
  actor: 'starter',
  from: 'Pending',
  to: 'Processing',
  attempt: 1,
  note: 'attempt 1 claimed',
};
const finished = {
  ...claimed,
  at: '2030-01-01T00:00:02.000Z',
  actor: 'orchestrator',
  to: 'Processed',
  note: 'all steps completed',
};

describe('the board', () => {
  it('tells each history entry once, also those between two looks (W1)', () => {
    const board = createBoard(10);
    expect(board.noteRecord(orderRecord({ history: [accepted] }))).toHaveLength(1);
    expect(board.noteRecord(orderRecord({ history: [accepted] }))).toEqual([]);
    const lines = board.noteRecord(orderRecord({ history: [accepted, claimed, finished] }));
    expect(lines.map((line) => line.split(': ')[1])).toEqual(['attempt 1 claimed', 'all steps completed']);
  });

  it('tells what is new when the history has lost its oldest entries (W1)', () => {
    const board = createBoard(10);
    board.noteRecord(orderRecord({ history: [accepted, claimed] }));
    expect(board.noteRecord(orderRecord({ history: [claimed, finished] }))).toHaveLength(1);
  });

  it('tells each status once and no older one (W1)', () => {
    const board = createBoard(10);
    expect(board.noteStatus(status('a', 2))).toHaveLength(1);
    expect(board.noteStatus(status('a', 2))).toEqual([]);
    expect(board.noteStatus(status('a', 1))).toEqual([]);
  });

  it('tells when to try again after an order was not taken', () => {
    const reason = { code: 'Busy', message: 'Too many.' } as const;
    const [line] = createBoard(10).noteStatus({
      ...status('a', 0),
      status: 'OrderRejected',
      reason,
      retryAfterMs: 29_500,
    });
    expect(line).toContain('status OrderRejected (Busy: Too many.; try again in 30 s)');
  });

  it('drops the order that was added first when it is full (W2)', () => {
    const board = createBoard(2);
    for (const orderId of ['a', 'b', 'c']) board.add(orderId);
    expect(board.rows().map(({ orderId }) => orderId)).toEqual(['b', 'c']);
  });

  it('looks no more at a record that has ended, until a newer status comes', () => {
    const board = createBoard(10);
    board.noteRecord(orderRecord({ orderId: 'a', processState: 'Error', updatedAt: '2030-01-01T00:00:05.000Z' }));
    board.noteRecord(orderRecord({ orderId: 'b', processState: 'Processing' }));
    expect(board.unfinished()).toEqual(['b']);
    board.noteStatus(status('a', 3));
    expect(board.unfinished()).toEqual(['a', 'b']);
  });

  it('shows state, attempt, step, status and what just happened', () => {
    const board = createBoard(10);
    const steps = [
      { id: 'payment', state: 'Running', startedAt: null, endedAt: null, completeBy: null, result: null, error: null },
    ];
    board.noteRecord(
      orderRecord({ orderId: 'a', processState: 'Processing', attempt: 1, steps, history: [accepted, claimed] }),
    );
    board.noteStatus(status('a', 1));
    expect(drawBoard(board.rows(), view)).toEqual([
      'order  state       attempt  step     status         what just happened',
      'a      Processing        1  payment  OrderReceived  starter: attempt 1 claimed',
    ]);
  });

  it('says of an order without a record that there is none', () => {
    const board = createBoard(10);
    board.add('a');
    expect(drawBoard(board.rows(), view)[1]).toContain('no record yet');
  });

  it('puts lines in the order of their times and leaves equal ones as they came', () => {
    const lines = ['00:00:02.000  b', '00:00:01.000  z', '00:00:01.000  a'];
    expect(inOrderOfTime(lines)).toEqual(['00:00:01.000  z', '00:00:01.000  a', '00:00:02.000  b']);
  });
});
