import { CoalescedReads } from './coalesced-reads';

describe('a read that callers share', () => {
  it('is made once for all that ask while another is under way, and begins after they asked', async () => {
    const reads = new CoalescedReads<number>();
    let truth = 0;
    let count = 0;
    const gates: (() => void)[] = [];
    const read = async (): Promise<number> => {
      count += 1;
      const seen = truth;
      await new Promise<void>((open) => gates.push(open));
      return seen;
    };
    const first = reads.get('job', read);
    truth = 1;
    const later = Array.from({ length: 1_000 }, () => reads.get('job', read));
    gates.shift()?.();
    expect(await first).toBe(0);
    gates.shift()?.();
    expect(new Set(await Promise.all(later))).toEqual(new Set([1]));
    expect(count).toBe(2);
  });

  it('that fails is made again for the next caller', async () => {
    const reads = new CoalescedReads<string>();
    await expect(reads.get('job', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    const failing = reads.get('job', () => Promise.reject(new Error('away again')));
    const next = reads.get('job', () => Promise.resolve('read'));
    await expect(failing).rejects.toThrow('away again');
    expect(await next).toBe('read');
  });

  it('is of one key', async () => {
    const reads = new CoalescedReads<string>();
    const both = [reads.get('a', () => Promise.resolve('a')), reads.get('b', () => Promise.resolve('b'))];
    expect(await Promise.all(both)).toEqual(['a', 'b']);
  });
});
