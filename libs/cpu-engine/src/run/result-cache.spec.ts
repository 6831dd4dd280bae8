import { maskOf } from '../../fixtures/test-work';
import { ResultCache } from './result-cache';

const small = () => [[maskOf(10, 10, [1])]];
/** Of content, and what any value costs beside. */
const SMALL_BYTES = 400 + 2048;

describe('the result cache', () => {
  it('finds a result by its scope and signature, and by no other', () => {
    const cache = new ResultCache(10_000);
    const outputs = small();
    cache.remember('one', 'abc', outputs);
    expect(cache.find('one', 'abc')?.[0]?.[0]).toBe(outputs[0]?.[0]);
    expect(cache.find('two', 'abc')).toBeUndefined();
    expect(cache.find('one', 'abd')).toBeUndefined();
  });

  it('forgets what was used least recently, once it holds more than its bytes', () => {
    const cache = new ResultCache(SMALL_BYTES * 2);
    cache.remember('s', 'first', small());
    cache.remember('s', 'second', small());
    cache.find('s', 'first');
    cache.remember('s', 'third', small());
    expect(cache.find('s', 'second')).toBeUndefined();
    expect(cache.find('s', 'first')).toBeDefined();
    expect(cache.find('s', 'third')).toBeDefined();
  });

  it('keeps nothing that is larger than itself', () => {
    const cache = new ResultCache(SMALL_BYTES - 1);
    cache.remember('s', 'large', small());
    expect(cache.find('s', 'large')).toBeUndefined();
  });

  it('counts a buffer that several results share once', () => {
    const cache = new ResultCache(400 + 4 * 2048);
    const [[mask]] = small() as [[ReturnType<typeof maskOf>]];
    for (const name of ['a', 'b', 'c', 'd']) cache.remember('s', name, [[mask]]);
    expect(['a', 'b', 'c', 'd'].filter((name) => cache.find('s', name))).toHaveLength(4);
  });
});
