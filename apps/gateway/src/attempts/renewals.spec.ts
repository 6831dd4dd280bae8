import { Renewals } from './renewals';

let renewals: Renewals<string>;
let underWay: { answer: (answer: string) => void; fail: (error: Error) => void }[];
beforeEach(() => {
  renewals = new Renewals();
  underWay = [];
});

const renew = (lease = 'lease'): Promise<string> =>
  renewals.renew(lease, () => new Promise((answer, fail) => underWay.push({ answer, fail })));

describe('renewals of one lease', () => {
  it('are two at a time at most, and the newest answers those that come meanwhile', async () => {
    const asked = Array.from({ length: 5 }, () => renew());
    expect(underWay).toHaveLength(2);
    underWay[0]?.answer('first');
    underWay[1]?.answer('second');
    expect(await Promise.all(asked)).toEqual(['first', 'second', 'second', 'second', 'second']);
    expect(renewals.leases).toBe(0);
  });

  it('take the place of one that has ended, however', async () => {
    const [first, second] = [renew(), renew()];
    underWay[0]?.fail(new Error('no connection'));
    await expect(first).rejects.toThrow('no connection');
    const third = renew();
    expect(underWay).toHaveLength(3);
    underWay[1]?.answer('second');
    underWay[2]?.answer('third');
    expect(await Promise.all([second, third])).toEqual(['second', 'third']);
    expect(renewals.leases).toBe(0);
  });

  it('do not wait for those of another', async () => {
    const asked = [renew(), renew(), renew('other')];
    expect(underWay).toHaveLength(3);
    underWay.forEach(({ answer }, nth) => answer(String(nth)));
    expect(await Promise.all(asked)).toEqual(['0', '1', '2']);
  });
});
