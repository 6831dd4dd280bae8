import fc from 'fast-check';
import { escapeJson, plainBlock, plainLine, safeJson, safeJsonText } from './terminal-text';

/** Everything that moves a cursor, sets a colour, turns the direction of writing or breaks a line. */
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('text of others on a terminal', () => {
  it('loses escape sequences and shows other control characters as what they are', () => {
    expect(plainLine('a\u001b[31mred\u001b[0m b\u009b1mc\u0007')).toBe('ared bc\\u{7}');
    expect(plainLine('\u001b]0;title\u0007x')).toBe('x');
    expect(plainLine('one\ntwo\tthree')).toBe('one two three');
    expect(plainLine('abc\u202egnp.exe')).toBe('abc\\u{202e}gnp.exe');
  });

  it('keeps its lines where lines are wanted; a progress bar of the engine becomes lines too', () => {
    expect(plainBlock('10%\r20%\r\nend\ttab')).toBe('10%\n20%\nend\ttab');
  });

  it('keeps letters of every script, and emoji with their joiners', () => {
    const text = 'é 漢字 עברית 👩‍🚀 हिन्दी';
    expect(plainLine(text)).toBe(text);
  });

  it('is never dangerous, for any text', () => {
    const wild = fc.string({
      unit: fc.oneof(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.constantFrom('\u001b', '[', '\u009b', '\u202e', '\r'),
      ),
    });
    fc.assert(
      fc.property(wild, (text) => {
        expect(plainLine(text)).not.toMatch(DANGEROUS);
        expect(plainLine(text)).not.toContain('\n');
        expect(plainBlock(text)).not.toMatch(DANGEROUS);
      }),
    );
  });
});

describe('JSON on a terminal', () => {
  it('has the same value and no dangerous character', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const shown = safeJson({ value, text });
        expect(shown).not.toMatch(DANGEROUS);
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      }),
    );
  });

  it('takes a long text that was JSON before in one pass', () => {
    const graph = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [at, { a: [at, 'b'] }]));
    expect(safeJsonText(JSON.stringify(graph))).toBe(safeJson(graph));
  });

  it('keeps the digits of a text that was JSON before', () => {
    expect(escapeJson('{"seed":18446744073709551615,"x":1.0,"\u009b":1}')).toBe(
      '{"seed":18446744073709551615,"x":1.0,"\\u009b":1}',
    );
  });
});
