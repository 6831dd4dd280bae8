import fc from 'fast-check';
import { PythonRegex } from './regex';
import { RegexSyntaxError, RegexUnsupported } from './regex-error';

const PLAIN = { ignoreCase: false, multiline: false, dotAll: false };

function found(pattern: string, text: string, flags = {}): (string | undefined)[][] {
  return [...new PythonRegex(pattern, { ...PLAIN, ...flags }).searchAll(text)];
}

describe("Python's regular expressions", () => {
  // What `[[m[0], *m.groups()] for m in re.finditer(pattern, text, flags)]` gives in Python 3.11.
  it.each<[string, string, object, (string | undefined)[][]]>([
    ['a$', 'a\n', {}, [['a']]],
    ['a\\Z', 'a\n', {}, []],
    ['^b', 'a\nb', {}, []],
    ['^b', 'a\nb', { multiline: true }, [['b']]],
    ['a.b', 'a\rb a\nb', {}, [['a\rb']]],
    ['a.b', 'a\nb', { dotAll: true }, [['a\nb']]],
    ['\\d+', '12 ٣٤', {}, [['12'], ['٣٤']]],
    ['(?a)\\w+', 'é1', {}, [['1']]],
    ['\\bé\\b', 'é e', {}, [['é']]],
    ['(?P<c>.)(?P=c)', 'aab', {}, [['aa', 'a']]],
    [
      '(a)|(b)',
      'ab',
      {},
      [
        ['a', 'a', undefined],
        ['b', undefined, 'b'],
      ],
    ],
    ['a{,2}b', 'aaab', {}, [['aab']]],
    ['a{x}', 'a{x}', {}, [['a{x}']]],
    ['[]a]+', ']a', {}, [[']a']]],
    ['[\\W\\d]+', 'a1-b', {}, [['1-']]],
    ['[a-c&&b]', '&', {}, [['&']]],
    ['a++b', 'aab', {}, [['aab']]],
    ['a++ab', 'aab', {}, []],
    ['(?>a|ab)c', 'abc', {}, []],
    ['(?x) a # first\n b', 'ab', {}, [['ab']]],
    ['(?i)É', 'é', {}, [['é']]],
    ['(?s:.)a', '\na', {}, [['\na']]],
    ['\\101\\x42\\u0043', 'ABC', {}, [['ABC']]],
    ['x*', 'axb', {}, [[''], ['x'], [''], ['']]],
    ['.', '😀', {}, [['😀']]],
  ])('%j in %j', (pattern, text, flags, matches) => {
    expect(found(pattern, text, flags)).toEqual(matches);
  });

  it.each([
    '(',
    ')',
    '[',
    '*a',
    'a**',
    '^*',
    'a{2}{3}',
    '[z-a]',
    '\\q',
    '(a)\\2',
    '(?P<1>a)',
    '(?P<n>a)(?P<n>b)',
    'a(?i)b',
    '\\',
    '(?L)a',
    '[\\d-x]',
  ])('refuses %j as Python does', (pattern) => {
    expect(() => new PythonRegex(pattern, PLAIN)).toThrow(RegexSyntaxError);
  });

  it.each(['(a)(?(1)b|c)', '(?i:a)', '\\N{DIGIT ONE}'])('says that %j is beyond it', (pattern) => {
    expect(() => new PythonRegex(pattern, PLAIN)).toThrow(RegexUnsupported);
  });

  it.each([
    ['(\\w)(\\w)', '\\2\\1', 'badc'],
    ['(?P<x>a)', '[\\g<x>\\g<1>\\g<0>]', '[aaa]bcd'],
    ['(a)|(z)', '\\2-', '-bcd'],
    ['b', '\\n\\\\\\.\\101', 'a\n\\\\.Acd'],
    ['b', '$&', 'a$&cd'],
    ['', '-', '-a-b-c-d-'],
  ])('replaces %j by %j', (pattern, replacement, result) => {
    expect(new PythonRegex(pattern, PLAIN).replace('abcd', replacement, 0)).toBe(result);
  });

  it('replaces no more matches than asked for', () => {
    expect(new PythonRegex('.', PLAIN).replace('abcd', 'x', 2)).toBe('xxcd');
  });

  it.each(['\\g<9>', '\\1', '\\q', 'x\\'])('refuses the replacement %j', (replacement) => {
    expect(() => new PythonRegex('b', PLAIN).replace('abcd', replacement, 0)).toThrow(RegexSyntaxError);
  });

  it('refuses a result that would not fit', () => {
    const text = 'a'.repeat(10_000);
    expect(() => new PythonRegex('a', PLAIN).replace(text, text, 0)).toThrow(/at most 1048576 are allowed/);
  });

  it('finds any text by its escaped self', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const pattern = text.replace(
          /[\s\S]/gu,
          (character) => `\\U${(character.codePointAt(0) as number).toString(16).padStart(8, '0')}`,
        );
        expect(found(pattern, text)).toEqual([[text]]);
      }),
    );
  });

  it('throws nothing but its own errors on any pattern', () => {
    const alphabet = [...'ab01()[]{}|*+?^$.\\,-:=!<>Pwdsx#\n'];
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 12 }), (pattern) => {
        try {
          new PythonRegex(pattern, PLAIN);
        } catch (error) {
          expect(error instanceof RegexSyntaxError || error instanceof RegexUnsupported).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
