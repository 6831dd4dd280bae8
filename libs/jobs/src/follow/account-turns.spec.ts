import { AccountTurns } from './account-turns';

/** A read that ends when the test says so. */
class Read {
  begun = false;
  end: () => void = () => undefined;
  readonly work = (): Promise<string> => {
    this.begun = true;
    return new Promise((resolve) => (this.end = () => resolve('page')));
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reads of one account', () => {
  it('go on so many at a time, the others in their order, and another account does not wait', async () => {
    const turns = new AccountTurns(2);
    const reads = Array.from({ length: 4 }, () => new Read());
    const pages = reads.map(({ work }) => turns.run('a', work));
    const other = new Read();
    const otherPage = turns.run('b', other.work);
    expect([...reads, other].map(({ begun }) => begun)).toEqual([true, true, false, false, true]);
    reads[1]?.end();
    await settle();
    expect(reads.map(({ begun }) => begun)).toEqual([true, true, true, false]);
    for (const read of [reads[0], reads[2], other]) read?.end();
    await settle();
    reads[3]?.end();
    expect(await Promise.all([...pages, otherPage])).toEqual(Array(5).fill('page'));
  });

  it('that fail leave their place', async () => {
    const turns = new AccountTurns(1);
    await expect(turns.run('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(await turns.run('a', () => Promise.resolve('page'))).toBe('page');
  });

  it('are refused when too many wait', async () => {
    const turns = new AccountTurns(1);
    const first = new Read();
    const pages = [turns.run('a', first.work)];
    for (let n = 0; n < 100; n += 1) pages.push(turns.run('a', () => Promise.resolve('page')));
    await expect(turns.run('a', () => Promise.resolve('page'))).rejects.toMatchObject({ code: 'rate_limited' });
    first.end();
    expect(await Promise.all(pages)).toHaveLength(101);
  });
});
