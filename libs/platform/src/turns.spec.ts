import { eventually } from '@millrace/testing';
import { Turns, type Rest } from './turns';

/** A read that ends when the test says so. */
class Read {
  begun = false;
  end: () => void = () => undefined;
  readonly work = (): Promise<string> => {
    this.begun = true;
    return new Promise((resolve) => (this.end = () => resolve('page')));
  };
}

describe('reads of one account', () => {
  it('go on so many at a time, the others in their order, and another account does not wait', async () => {
    const turns = new Turns(2, 'reads');
    const reads = Array.from({ length: 4 }, () => new Read());
    const pages = reads.map(({ work }) => turns.run('a', work));
    const other = new Read();
    const otherPage = turns.run('b', other.work);
    expect([...reads, other].map(({ begun }) => begun)).toEqual([true, true, false, false, true]);
    reads[1]?.end();
    await eventually('the third read began', () => reads[2]?.begun);
    expect(reads[3]?.begun).toBe(false);
    for (const read of [reads[0], reads[2], other]) read?.end();
    await eventually('the fourth read began', () => reads[3]?.begun);
    reads[3]?.end();
    expect(await Promise.all([...pages, otherPage])).toEqual(Array(5).fill('page'));
  });

  it('leave as much time for others as they took, and one that waits for no other begins at once', async () => {
    jest.useFakeTimers();
    try {
      const turns = new Turns(1, 'reads');
      const reads = Array.from({ length: 3 }, () => new Read());
      const pages = reads.map(({ work }) => turns.run('a', work));
      jest.advanceTimersByTime(300);
      reads[0]?.end();
      await jest.advanceTimersByTimeAsync(299);
      expect(reads[1]?.begun).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(reads[1]?.begun).toBe(true);
      jest.advanceTimersByTime(60_000);
      reads[1]?.end();
      await jest.advanceTimersByTimeAsync(2_000);
      reads[2]?.end();
      await Promise.all(pages);
      const next = new Read();
      const page = turns.run('a', next.work);
      expect(next.begun).toBe(true);
      next.end();
      expect(await page).toBe('page');
    } finally {
      jest.useRealTimers();
    }
  });

  it('leave as much time as their rest says, also where no other waits', async () => {
    jest.useFakeTimers();
    try {
      const turns = new Turns(1, 'reads', { rest: { times: 3, isAlways: true } });
      const reads = [new Read(), new Read()];
      const first = turns.run('a', (reads[0] as Read).work);
      jest.advanceTimersByTime(100);
      reads[0]?.end();
      await first;
      const second = turns.run('a', (reads[1] as Read).work);
      await jest.advanceTimersByTimeAsync(299);
      expect(reads[1]?.begun).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(reads[1]?.begun).toBe(true);
      reads[1]?.end();
      await second;
    } finally {
      jest.useRealTimers();
    }
  });

  it('rest two seconds at most, or as long as their rest says', async () => {
    jest.useFakeTimers();
    try {
      const limits: [Partial<Rest>, number][] = [
        [{}, 2_000],
        [{ mostMs: 90_000 }, 90_000],
      ];
      for (const [limit, restMs] of limits) {
        const turns = new Turns(1, 'reads', { rest: { times: 3, isAlways: true, ...limit } });
        const [first, second] = [new Read(), new Read()];
        const pages = [first, second].map(({ work }) => turns.run('a', work));
        jest.advanceTimersByTime(40_000);
        first.end();
        await jest.advanceTimersByTimeAsync(restMs - 1);
        expect(second.begun).toBe(false);
        await jest.advanceTimersByTimeAsync(1);
        expect(second.begun).toBe(true);
        second.end();
        await Promise.all(pages);
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('rest by what they say that they spent, also where they fail', async () => {
    jest.useFakeTimers();
    try {
      for (const fails of [false, true]) {
        const turns = new Turns(1, 'reads', { rest: { times: 3, isAlways: true, mostMs: 90_000 } });
        const first = turns.run('a', async (spend) => {
          for (const ms of [40, 60]) spend(ms);
          await new Promise((resolve) => setTimeout(resolve, 2_000));
          if (fails) throw new Error('gone');
        });
        const ended = fails ? expect(first).rejects.toThrow('gone') : first;
        await jest.advanceTimersByTimeAsync(2_000);
        await ended;
        const second = new Read();
        const page = turns.run('a', second.work);
        await jest.advanceTimersByTimeAsync(299);
        expect(second.begun).toBe(false);
        await jest.advanceTimersByTimeAsync(1);
        expect(second.begun).toBe(true);
        second.end();
        await page;
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('that fail leave their place', async () => {
    const turns = new Turns(1, 'reads');
    await expect(turns.run('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(await turns.run('a', () => Promise.resolve('page'))).toBe('page');
  });

  it.each([
    [{}, '100 reads of this account are waiting for their turn; wait for their answers.'],
    [{ whose: 'caller' }, '100 reads of this caller are waiting for their turn; wait for their answers.'],
    [{ whose: 'all' }, '100 reads of all callers are waiting for their turn; send this again later.'],
  ] as const)('are refused when too many wait, and the refusal says whose and what to do: %j', async (of, message) => {
    const turns = new Turns(1, 'reads', of);
    const first = new Read();
    const pages = [turns.run('a', first.work)];
    for (let n = 0; n < 100; n += 1) pages.push(turns.run('a', () => Promise.resolve('page')));
    const refused = turns.run('a', () => Promise.resolve('page'));
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited', message });
    first.end();
    expect(await Promise.all(pages)).toHaveLength(101);
  });

  it('that were admitted before are not refused, and count with those that wait', async () => {
    const turns = new Turns(1, 'reads');
    const first = new Read();
    const pages = [turns.run('a', first.work)];
    for (let n = 0; n < 101; n += 1) pages.push(turns.runAdmitted('a', () => Promise.resolve('page')));
    await expect(turns.run('a', () => Promise.resolve('page'))).rejects.toMatchObject({ code: 'rate_limited' });
    first.end();
    expect(await Promise.all(pages)).toHaveLength(102);
  });
});
