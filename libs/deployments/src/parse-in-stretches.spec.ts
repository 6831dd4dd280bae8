import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { parseInStretches } from './parse-in-stretches';

const long = (length: number): string => 'x'.repeat(length);

describe('a text that is parsed in stretches', () => {
  it.each([
    ['a long list', Array.from({ length: 50_000 }, (_, at) => [at, `\\"${at}`])],
    ['an object of many keys', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k"${at}`, { at }]))],
    ['long members deep within', { a: [1, { b: [long(70_000), { c: long(70_000) }, [], {}, null] }, 2], d: true }],
    ['a long text', long(200_000)],
    ['backslashes at the ends of texts', Array<string>(30_000).fill('\\')],
  ])('is what JSON has it be: %s', async (_what, value) => {
    expect(await parseInStretches(JSON.stringify(value))).toEqual(value);
  });

  it('has any value, with the keys in their order', async () => {
    const values = fc.array(fc.jsonValue({ maxDepth: 6 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(values, fc.jsonValue(), async (some, key) => {
        const text = JSON.stringify({
          some: [...some, long(40_000), { [JSON.stringify(key)]: [long(40_000), some] }],
          rest: some,
        });
        expect(JSON.stringify(await parseInStretches(text))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps a key that every object has as one of its own', async () => {
    const text = `{"__proto__":{"a":"${long(70_000)}"},"toString":[],"__proto":1}`;
    const parsed = (await parseInStretches(text)) as object;
    expect(Object.keys(parsed)).toEqual(['__proto__', 'toString', '__proto']);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it('is refused where it is no JSON', async () => {
    for (const text of [`[${'1,'.repeat(100_000)}`, `{"a":[${'1 1,'.repeat(50_000)}1]}`, `[${long(70_000)}]`]) {
      await expect(parseInStretches(text)).rejects.toThrow(SyntaxError);
    }
  });

  it('leaves the event loop to others meanwhile', async () => {
    const text = JSON.stringify({ one: { list: Array.from({ length: 400_000 }, (_, at) => `name ${at}`) } });
    let turns = 0;
    let isDone = false;
    const parsing = parseInStretches(text).finally(() => (isDone = true));
    for (; !isDone; turns += 1) await setImmediate();
    await parsing;
    expect(turns).toBeGreaterThan(5);
  });
});
