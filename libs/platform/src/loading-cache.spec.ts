import { LoadingCache, type LoadingCacheOptions } from './loading-cache';

let now = 1_000;
/** Loads in the order in which they began, each to be answered by the test. */
let loads: { key: string; answer: (value: string | null) => void; fail: (error: Error) => void }[];
const cacheOf = (options: Partial<LoadingCacheOptions<string | null>>): LoadingCache<string | null> =>
  new LoadingCache({
    max: 10,
    ttlMs: 100,
    load: (key) => new Promise((answer, fail) => loads.push({ key, answer, fail })),
    now: () => now,
    ...options,
  });
/** Everything that an answer makes happen has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const answer = (value: string | null): void => loads.at(-1)?.answer(value);

beforeEach(() => {
  now = 1_000;
  loads = [];
});

describe('a loading cache', () => {
  it('loads once for all who ask meanwhile and until the time is over', async () => {
    const cache = cacheOf({});
    const both = [cache.get('a'), cache.get('a')];
    answer('first');
    expect(await Promise.all(both)).toEqual(['first', 'first']);
    now += 100;
    expect(await cache.get('a')).toBe('first');
    expect(loads).toHaveLength(1);
    now += 1;
    const again = cache.get('a');
    answer('second');
    expect(await again).toBe('second');
  });

  it('shows what is there without loading it, and nothing that is on its way or too old', async () => {
    const cache = cacheOf({});
    expect(cache.peek('a')).toBeUndefined();
    const asked = cache.get('a');
    expect(cache.peek('a')).toBeUndefined();
    answer('first');
    await asked;
    expect(cache.peek('a')).toBe('first');
    now += 101;
    expect(cache.peek('a')).toBeUndefined();
    expect(loads).toHaveLength(1);
  });

  it('keeps as much as it may hold by weight, what was used last first, and nothing that is heavier', async () => {
    const cache = cacheOf({ weight: { of: (value) => value?.length ?? 0, most: 10 } });
    const ask = async (key: string, value: string): Promise<void> => {
      const asked = cache.get(key);
      answer(value);
      await asked;
    };
    await ask('a', 'aaaa');
    await ask('b', 'bbbb');
    expect([cache.peek('a'), cache.peek('b')]).toEqual(['aaaa', 'bbbb']);
    await cache.get('a');
    await ask('c', 'cccc');
    expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual(['aaaa', undefined, 'cccc']);
    await ask('d', 'd'.repeat(11));
    expect(cache.has('d')).toBe(false);
  });

  it('counts the time from the question, and shares no load for longer', async () => {
    const cache = cacheOf({});
    const slow = cache.get('a');
    now += 101;
    const fresh = cache.get('a');
    expect(loads).toHaveLength(2);
    loads[1]?.answer('new');
    loads[0]?.answer('old');
    expect(await Promise.all([slow, fresh])).toEqual(['old', 'new']);
    expect(await cache.get('a')).toBe('new');
  });

  it('keeps absence, and no failure', async () => {
    const cache = cacheOf({});
    const absent = cache.get('a');
    answer(null);
    expect(await absent).toBeNull();
    expect(await cache.get('a')).toBeNull();
    const failing = cache.get('b');
    loads.at(-1)?.fail(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    void cache.get('b');
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b', 'b']);
  });

  it('keeps an answer for the time that the answer allows, from the question on', async () => {
    const cache = cacheOf({ ttlMsOf: (value) => (value === null ? 0 : 10) });
    const absent = cache.get('none');
    answer(null);
    expect(await absent).toBeNull();
    void cache.get('none');
    expect(loads).toHaveLength(2);
    const short = cache.get('short');
    now += 10;
    answer('x');
    await short;
    await cache.get('short');
    expect(loads).toHaveLength(3);
    now += 1;
    void cache.get('short');
    expect(loads).toHaveLength(4);
  });

  it('asks again after a deletion, and does not take the earlier answer', async () => {
    const cache = cacheOf({});
    const before = cache.get('a');
    cache.clear();
    const after = cache.get('a');
    loads[1]?.answer('new');
    loads[0]?.answer('old');
    expect(await Promise.all([before, after])).toEqual(['old', 'new']);
    cache.delete('a');
    void cache.get('a');
    expect(loads).toHaveLength(3);
  });

  describe('that refreshes', () => {
    const refreshing = (options: Partial<LoadingCacheOptions<string | null>> = {}): LoadingCache<string | null> =>
      cacheOf({ refreshAfterMs: 60, ...options });
    /** A cache that was given an answer 61 ms ago. */
    async function aged(
      options: Partial<LoadingCacheOptions<string | null>> = {},
    ): Promise<LoadingCache<string | null>> {
      const cache = refreshing(options);
      const first = cache.get('a');
      answer('first');
      await first;
      now += 61;
      return cache;
    }

    it('answers with what it has and loads once beside that, and then answers with what came', async () => {
      const cache = await aged();
      expect(await Promise.all([cache.get('a'), cache.get('a')])).toEqual(['first', 'first']);
      expect(loads).toHaveLength(2);
      answer('second');
      await settled();
      expect(await cache.get('a')).toBe('second');
      expect(cache.peek('a')).toBe('second');
      expect(loads).toHaveLength(2);
    });

    it('loads nothing that nobody asks for, and nothing again that is still on its way', async () => {
      const cache = refreshing();
      const first = cache.get('a');
      now += 61;
      const shared = cache.get('a');
      answer('first');
      expect(await Promise.all([first, shared])).toEqual(['first', 'first']);
      expect(loads).toHaveLength(1);
    });

    it('gives no answer that is too old, also while another one is on its way, and counts from the question', async () => {
      const cache = await aged();
      void cache.get('a');
      now += 40;
      const late = cache.get('a');
      expect(loads).toHaveLength(3);
      loads[1]?.answer('second');
      loads[2]?.answer('third');
      expect(await late).toBe('third');
      await settled();
      expect(cache.peek('a')).toBe('third');
      now += 61;
      void cache.get('a');
      answer('fourth');
      await settled();
      now += 100;
      expect(cache.peek('a')).toBe('fourth');
      now += 1;
      expect(cache.peek('a')).toBeUndefined();
    });

    it('keeps the old answer for its time where the load fails, and tries again for the next who asks', async () => {
      const cache = await aged();
      void cache.get('a');
      loads[1]?.fail(new Error('away'));
      await settled();
      expect(await cache.get('a')).toBe('first');
      expect(loads).toHaveLength(3);
    });

    it.each<[string, (cache: LoadingCache<string | null>) => void]>([
      ['deleted', (cache) => cache.delete('a')],
      ['cleared', (cache) => cache.clear()],
      ['loaded past it', (cache) => void cache.reload('a')],
    ])('takes no answer that was asked for before the one it replaces was %s', async (_what, change) => {
      const cache = await aged();
      void cache.get('a');
      change(cache);
      loads[1]?.answer('old');
      await settled();
      expect(cache.peek('a')).toBeUndefined();
      const next = cache.get('a');
      loads[2]?.answer('new');
      expect(await next).toBe('new');
    });

    it('keeps the next answer for the time that it allows', async () => {
      const cache = await aged({ ttlMsOf: (value) => (value === null ? 0 : 100) });
      void cache.get('a');
      answer(null);
      await settled();
      expect(cache.has('a')).toBe(false);
    });
  });

  it('is bounded: what was used longest ago goes', () => {
    const cache = cacheOf({ max: 2 });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) void cache.get(key);
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'b']);
  });
});
