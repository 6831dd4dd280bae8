import type { Statements } from '@millrace/database';
import type { QueueEndsRow } from './queue-ends';
import type { QueueEndsStore } from './queue-ends.store';
import { QueueRanks } from './queue-ranks';

const idOf = (nth: number): string => `00000000-0000-7000-8000-${String(nth).padStart(12, '0')}`;

/** A queue of one account, and how often it was read. */
class WatchedQueue {
  reads = 0;
  waiting: number[] = [];
  asked: string[] = [];
  nowMs = 1;
  readonly ranks: QueueRanks;

  constructor() {
    const read = (_statements: Statements, ...key: string[]): Promise<QueueEndsRow> => {
      this.reads += 1;
      this.asked = key;
      return Promise.resolve({ waiting: this.waiting.length, first: this.waiting.map(idOf), last: [] });
    };
    this.ranks = new QueueRanks({} as Statements, { read } as unknown as QueueEndsStore, () => this.nowMs);
  }

  ahead(nth: number, poolId = 'pool'): Promise<number> {
    return this.ranks.ahead({ id: idOf(nth), poolId, accountId: 'account' });
  }
}

describe('the places of waiting jobs', () => {
  it('are read once for all that ask', async () => {
    const queue = new WatchedQueue();
    queue.waiting = [0, 1, 2];
    const asked = Array.from({ length: 1_000 }, (_, nth) => queue.ahead(nth % 3));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([0, 1, 2]));
    expect(queue.reads).toBe(1);
  });

  it('are read again when they are half a second old', async () => {
    const queue = new WatchedQueue();
    queue.waiting = [0, 1];
    await queue.ahead(1);
    queue.waiting = [1];
    queue.nowMs += 499;
    expect(await queue.ahead(1)).toBe(1);
    queue.nowMs += 2;
    expect(await queue.ahead(1)).toBe(0);
    expect(queue.reads).toBe(2);
  });

  it('are read again for a job that came since, once for all of those', async () => {
    const queue = new WatchedQueue();
    queue.waiting = [0];
    await queue.ahead(0);
    queue.waiting = [0, 1, 2];
    expect(await Promise.all([queue.ahead(1), queue.ahead(2), queue.ahead(2)])).toEqual([1, 2, 2]);
    // One was under way when the second asked, and may have been without its job.
    expect(queue.reads).toBeLessThanOrEqual(3);
  });

  it('are found in a pool whose id has spaces', async () => {
    const queue = new WatchedQueue();
    queue.waiting = [0];
    await queue.ahead(0, 'a pool of cards');
    expect(queue.asked).toEqual(['a pool of cards', 'account']);
  });

  it('of a job that has had its turn meanwhile is the first', async () => {
    const queue = new WatchedQueue();
    queue.waiting = [5, 6];
    expect(await queue.ahead(4)).toBe(0);
  });
});
