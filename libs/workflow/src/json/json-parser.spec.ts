import fc from 'fast-check';
import { member, members, sliceOf, type JsonNode } from './json-document';
import { JsonLimitError, JsonSyntaxError } from './json-error';
import { parseJson } from './json-parser';

function plain(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
    case 'array':
      return node.items.map(plain);
    case 'number':
      return Number(node.raw);
    case 'null':
      return null;
    case 'string':
    case 'boolean':
      return node.value;
  }
}

function childrenOf(node: JsonNode): JsonNode[] {
  if (node.kind === 'object') return node.entries.map(({ value }) => value);
  return node.kind === 'array' ? node.items : [];
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return error instanceof SyntaxError || error instanceof JsonSyntaxError ? 'refused' : error;
  }
}

/** Both readers accept or refuse a text, and read the same from it. */
function expectSameAsNative(text: string): void {
  expect(outcome(() => plain(parseJson(text)))).toStrictEqual(outcome(() => JSON.parse(text) as unknown));
}

function errorOf(text: string): JsonSyntaxError {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
  }
  throw new Error('The text was accepted.');
}

const anyJson = fc.oneof(fc.json({ maxDepth: 6 }), fc.json({ stringUnit: 'binary' }));
const spaced = fc
  .tuple(fc.jsonValue(), fc.integer({ min: 0, max: 4 }))
  .map(([value, by]) => JSON.stringify(value, null, by));
/** Characters that JSON gives a meaning to, and a few that it refuses. */
const jsonCharacter = fc.constantFrom(
  ...'{}[]:,"\\/bfnrtu0123456789.eE+-truefalsenl \t\n\r\u0000\u001f\u007f\u2028\ud800\ufeff\u00a0',
);

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(fc.property(fc.oneof(anyJson, spaced), expectSameAsNative), { numRuns: 1_000 });
  });

  it('accepts and refuses the same texts as JSON.parse, one character changed, put in or taken out', () => {
    const mutation = fc.tuple(fc.nat(), jsonCharacter, fc.constantFrom(0, 1), fc.boolean());
    fc.assert(
      fc.property(fc.oneof(anyJson, spaced), fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
        let mutated = text;
        for (const [where, character, removed, isInserted] of mutations) {
          const at = where % (mutated.length + 1);
          mutated = mutated.slice(0, at) + (isInserted ? character : '') + mutated.slice(at + removed);
        }
        expectSameAsNative(mutated);
      }),
      { numRuns: 3_000 },
    );
  });

  it('accepts and refuses the same short texts as JSON.parse, made of the characters of JSON', () => {
    fc.assert(
      fc.property(fc.array(jsonCharacter, { maxLength: 8 }), (text) => expectSameAsNative(text.join(''))),
      {
        numRuns: 5_000,
      },
    );
  });

  it.each(['-0', '1e400', '1E+2', '0.10', '-', '01', '1.', '.5', '1e', '+1', 'NaN', 'Infinity', '0x1', '1_000'])(
    'agrees with JSON.parse on the number %s',
    expectSameAsNative,
  );

  it.each([
    '"\\ud800"',
    '"\\uDFFF\\ud83d"',
    '"\ud800"',
    '"\\u12"',
    '"\\x41"',
    '"a\tb"',
    '"\\/"',
    '"\u2028"',
    '"',
    '"\\',
    '"\\u',
  ])('agrees with JSON.parse on the string %j', expectSameAsNative);

  it('accepts and refuses the same long strings as JSON.parse, wherever a character stands that JSON gives a meaning to', () => {
    const long = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), jsonCharacter), { maxLength: 4 });
    fc.assert(
      fc.property(long, fc.constantFrom('', '"', '"]'), (runs, end) => {
        const inside = runs.map(([length, character]) => 'é'.repeat(length) + character).join('');
        expectSameAsNative(`["${inside}${end}`);
        expectSameAsNative(`["${'x'.repeat(64)}${inside}${end}`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('agrees with JSON.parse on duplicate names and on __proto__', () => {
    expectSameAsNative('{"b":1,"a":2,"b":3,"10":0,"9":0,"__proto__":{"x":1}}');
  });

  it('gives each value its place: the text of a value, parsed alone, is that value', () => {
    fc.assert(
      fc.property(fc.oneof(anyJson, spaced), (text) => {
        const pending = [parseJson(` ${text}\n`)];
        for (const node of pending) {
          const slice = sliceOf(node, ` ${text}\n`);
          expect(slice).toBe(slice.trim());
          expect(plain(parseJson(slice))).toStrictEqual(plain(node));
          pending.push(...childrenOf(node));
        }
      }),
    );
  });

  it('keeps digits, order, duplicates and the spelling of everything', () => {
    const text = '{"10": 18446744073709551615, "9": 1.0, "10": 1e2}';
    const node = parseJson(text);
    expect(node.kind === 'object' && node.entries.map(({ key, value }) => [key, sliceOf(value, text)])).toEqual([
      ['10', '18446744073709551615'],
      ['9', '1.0'],
      ['10', '1e2'],
    ]);
  });

  it('says what was expected, where, and what is there instead', () => {
    const error = errorOf('{\r\n  "a": 1\n  "b": 2}');
    expect(error.message).toBe(
      `Expected ',' or '}' after a member of an object at line 3, column 3, where there is '"'.`,
    );
    expect(error.offset).toBe(14);
  });

  it.each([
    ['{"a": ', 'Expected a value at line 1, column 7, where the text ends.'],
    ['[1]x', "Expected the end of the text after the value at line 1, column 4, where there is 'x'."],
    ['\ufeff{}', 'Expected a value at line 1, column 1, where there is the character U+FEFF.'],
    ['[1, 😀]', "Expected a value at line 1, column 5, where there is '😀'."],
  ])('says of %j what is wrong', (text, message) => {
    expect(errorOf(text).message).toBe(message);
  });

  it('reads as many levels as it is allowed, and names the limit for a text with more', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseJson(nested(128)).kind).toBe('array');
    expect(errorOf(nested(129))).toBeInstanceOf(JsonLimitError);
    expect(errorOf(nested(129)).message).toBe(
      'The JSON text is nested deeper than 128 levels, which is the limit; it is passed at line 1, column 129.',
    );
    expect(parseJson(nested(1_000), { maxDepth: 1_000 }).kind).toBe('array');
    expect(() => parseJson('{}', { maxDepth: 1_001 })).toThrow(RangeError);
  });

  it.each(['[', '{"a":', '[{"a":'])('is not overcome by a million times %s', (opening) => {
    expect(errorOf(opening.repeat(1_000_000))).toBeInstanceOf(JsonLimitError);
  });

  it('refuses a text of more values than it is allowed to read', () => {
    expect(parseJson('[1,2,3]', { maxValues: 4 }).kind).toBe('array');
    expect(() => parseJson('[1,2,3,4]', { maxValues: 4 })).toThrow('holds more than 4 values');
  });
});

describe('member and members', () => {
  const node = parseJson('{"a": 1, "b": 2, "a": 3}');

  it('take the last of duplicates', () => {
    expect(member(node, 'a')).toMatchObject({ raw: '3' });
    expect([...members(node)].map(([key, value]) => [key, value.kind === 'number' && value.raw])).toEqual([
      ['a', '3'],
      ['b', '2'],
    ]);
  });

  it('find nothing where there is nothing', () => {
    expect(member(node, 'toString')).toBeUndefined();
    expect(member(parseJson('[1]'), '0')).toBeUndefined();
    expect(members(parseJson('[1]')).size).toBe(0);
  });
});
