import fc from 'fast-check';
import { encoded } from './encoding';

/** Every character but half of one, which a text of PostgreSQL cannot have. */
const text = fc.string({ unit: 'binary', maxLength: 12 });
const fields = fc.array(fc.option(text, { nil: null }), { maxLength: 6 });

/** Read what was encoded. That this can be done is what makes it injective. */
function decoded(bytes: Buffer): (string | null)[] {
  const list: (string | null)[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readInt32BE(at);
    at += 4;
    list.push(length < 0 ? null : bytes.subarray(at, at + length).toString('utf8'));
    at += Math.max(length, 0);
  }
  return list;
}

it('the fields can be read from their bytes, so no two lists have the same', () => {
  fc.assert(fc.property(fields, (list) => expect(decoded(encoded(list))).toEqual(list)));
});

it('lists that differ have bytes that differ, also where their texts are the same in a row', () => {
  const split = fc.tuple(text, fc.nat(12), fc.nat(12)).map(([whole, a, b]) => {
    const parts = (at: number): string[] => [whole.slice(0, at), whole.slice(at)];
    return [parts(a), parts(b)] as const;
  });
  const pairs = fc.oneof(fc.tuple(fields, fields), split);
  fc.assert(
    fc.property(pairs, ([one, other]) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(encoded(one).equals(encoded(other))).toBe(isSame);
    }),
  );
});

it.each([
  [
    ['a', 'bc'],
    ['ab', 'c'],
  ],
  [[null], ['']],
  [[''], []],
  [['', ''], ['']],
  [['null'], [null]],
  [
    ['a', null],
    [null, 'a'],
  ],
])('%j is not %j', (one, other) => {
  expect(encoded(one).equals(encoded(other))).toBe(false);
});
