import fc from 'fast-check';
import { itemPieces, memberPieces, type JsonPiece } from './json-pieces';
import { JsonSyntaxError } from './json-error';
import { parseJson } from './json-parser';

const sliced = (text: string, { start, end }: JsonPiece): string => text.slice(start, end);

/** What a text is when it is read piece by piece: the pieces, or undefined where it is refused. */
function readInPieces(text: string): unknown {
  try {
    return Object.fromEntries(
      [...memberPieces(text)].map(([name, piece]) => {
        const slice = sliced(text, piece);
        if (!slice.startsWith('[')) return [name, parsed(slice)];
        return [name, itemPieces(text, piece).map((item) => parsed(sliced(text, item)))];
      }),
    );
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function parsed(text: string): unknown {
  parseJson(text);
  return JSON.parse(text) as unknown;
}

function whole(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

describe('the pieces of a JSON text', () => {
  it('are together what the whole is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(readInPieces(text)).toEqual(whole(text));
      }),
    );
  });

  it('are refused where the whole is no JSON', () => {
    const cut = fc.constantFrom('', ',', ':', '"', '\\', '{', '}', '[', ']', ' ', 'x', '1');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.nat(3), cut, (value, at, length, put) => {
        const text = JSON.stringify(value);
        const from = at % (text.length + 1);
        const broken = text.slice(0, from) + put + text.slice(from + length);
        const expected = whole(broken);
        const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
        expect(readInPieces(broken)).toEqual(isObject ? expected : undefined);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', '[]', '1', '{', '{"a"', '{"a":', '{"a":}', '{"a":1,}', '{"a":1}x', '{"a":[1,]}', '{"a":[1}}', '{"a":"'])(
    'do not exist of %j',
    (text) => expect(readInPieces(text)).toBeUndefined(),
  );

  it('name the place of a fault', () => {
    expect(() => memberPieces('{"a": 1;')).toThrow("Expected ',' or '}' after a value");
    expect(() => itemPieces('{}', { start: 0, end: 2 })).toThrow('Expected an array at line 1, column 1');
  });
});
