import { parseJson } from './json-parser';
import { pythonFloat, pythonInt } from './python-number';

const int = (text: string): number | bigint | null => pythonInt(parseJson(text));
const float = (text: string): number | null => pythonFloat(parseJson(text));

describe('int() of a Python engine', () => {
  it.each([
    ['18446744073709551615', 18446744073709551615n],
    ['-18446744073709551615', -18446744073709551615n],
    ['999999999999999', 999999999999999],
    ['64.9', 64],
    ['-64.9', -64],
    ['1e3', 1000],
    ['"+00018446744073709551615"', 18446744073709551615n],
    ['"\\u001c 1_0\\u0085\\n"', 10],
    ['"６４"', 64],
    ['"\\ud835\\udfd9\\ud835\\udfe1"', 19],
    ['true', 1],
  ])('reads %s', (text, value) => {
    expect(int(text)).toBe(value);
  });

  it.each([
    'null',
    '[]',
    '{}',
    '""',
    '" "',
    '"1_"',
    '"_1"',
    '"1__0"',
    '"- 1"',
    '"1.0"',
    '"1e3"',
    '"²"',
    '1e999',
    `"${'1'.repeat(4_301)}"`,
  ])('refuses %s', (text) => {
    expect(int(text)).toBeNull();
  });
});

describe('a text of millions of digits', () => {
  it.each(['1'.repeat(5_000_000), '1_'.repeat(5_000_000), '٣'.repeat(5_000_000), `${'1_1'.repeat(5_000_000)}x`])(
    'is no number, and that is found at once: %#',
    (text) => {
      const value = { kind: 'string' as const, start: 0, end: text.length, value: text };
      expect([pythonInt(value), pythonFloat(value)]).toEqual([null, null]);
    },
  );
});

describe('float() of a Python engine', () => {
  it.each([
    ['18446744073709551615', 18446744073709552000],
    ['1', 1],
    ['1e999', Infinity],
    ['"1."', 1],
    ['".5e-1_0"', 5e-11],
    ['"1_0.0_1"', 10.01],
    ['" -Infinity "', -Infinity],
    ['"+INF"', Infinity],
    ['"-NaN"', NaN],
    ['"٣.٥"', 3.5],
    ['false', 0],
  ])('reads %s', (text, value) => {
    expect(float(text)).toBe(value);
  });

  it.each([
    'null',
    '[]',
    '{}',
    '""',
    '"."',
    '"1e"',
    '"e5"',
    '"1._0"',
    '"0x1p3"',
    '"1,5"',
    '"infin"',
    `1${'0'.repeat(309)}`,
  ])('refuses %s', (text) => {
    expect(float(text)).toBeNull();
  });
});
