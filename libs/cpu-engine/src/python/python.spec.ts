import fc from 'fast-check';
import { parseJson } from '@millrace/workflow';
import { dumped, floatText, reprOf, strOf } from './format';
import { roundHalfEven } from './round';
import { capitalized, lengthOf, replaceText, sliceText, stripEnd, stripStart, titled } from './text';

describe('numbers as Python writes them', () => {
  it.each([
    [1, '1.0'],
    [-0, '-0.0'],
    [0.1, '0.1'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [123456789012345680, '1.2345678901234568e+17'],
    [1e-4, '0.0001'],
    [1e-5, '1e-05'],
    [5e-324, '5e-324'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan'],
  ])('%d as %s', (value, text) => {
    expect(floatText(value)).toBe(text);
  });

  it('read back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(floatText(value))).toBe(value);
        expect(floatText(value)).toMatch(/[.e]/);
      }),
    );
  });

  it('rounds halves to the even neighbour', () => {
    expect([0.5, 1.5, 2.5, -1.5, -2.5, 2.4, 2.6].map(roundHalfEven)).toEqual([0, 2, 2, -2, -2, 2, 3]);
  });
});

describe('JSON values as Python writes them', () => {
  const node = parseJson(
    `{"a": [1, 1.0, true, null, "x'y", "q\\"'", "\\u00e9\\n\\u2028"], "b": {}, "n": 12345678901234567890}`,
  );

  it('by repr', () => {
    expect(reprOf(node)).toBe(
      `{'a': [1, 1.0, True, None, "x'y", 'q"\\'', 'é\\n\\u2028'], 'b': {}, 'n': 12345678901234567890}`,
    );
    expect(strOf(parseJson('"plain"'))).toBe('plain');
  });

  it('by json.dumps', () => {
    expect(dumped(node)).toBe(
      `{"a": [1, 1.0, true, null, "x'y", "q\\"'", "\\u00e9\\n\\u2028"], "b": {}, "n": 12345678901234567890}`,
    );
  });
});

describe('text as Python handles it', () => {
  it('counts and slices by characters, not by UTF-16 units', () => {
    expect(lengthOf('a😀b')).toBe(3);
    expect(sliceText('a😀b', 1n, 2n)).toBe('😀');
    expect(sliceText('a😀b', -2n, 10n ** 20n)).toBe('😀b');
    expect(sliceText('abc', -(10n ** 20n), -1n)).toBe('ab');
    expect(sliceText('abc', 2n, 1n)).toBe('');
  });

  it('strips what Python calls white space', () => {
    expect(stripStart('\x1c\u3000\t x ')).toBe('x ');
    expect(stripEnd(' x \x85\u2029')).toBe(' x');
    expect(stripStart('\ufeffx')).toBe('\ufeffx');
  });

  it('replaces nothing at every character and both ends', () => {
    expect(replaceText('a😀', '', '-')).toBe('-a-😀-');
    expect(replaceText('axbx', 'x', '$&')).toBe('a$&b$&');
  });

  it('refuses a replacement that would not fit', () => {
    expect(() => replaceText('a'.repeat(10_000), 'a', 'b'.repeat(10_000))).toThrow(/at most 1048576 are allowed/);
  });

  it.each([
    ["it's a TEST", "It'S A Test", "It's a test"],
    ['ΟΔΟΣ σας', 'Οδος Σας', 'Οδος σας'],
    ['ǆ ﬁ ß', 'ǅ Fi Ss', 'ǅ ﬁ ß'],
    ['ᾳ ŉ', 'ᾼ ʼN', 'ᾼ ŉ'],
  ])('gives %j its title and sentence case', (text, title, sentence) => {
    expect(titled(text)).toBe(title);
    expect(capitalized(text)).toBe(sentence);
  });
});
