import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLenientJson, toStrictJson } from './lenient-json';

describe('lenient JSON', () => {
  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(parseLenientJson(text)).toEqual(JSON.parse(text))));
  });

  it('reads non-finite numbers as null and leaves every string alone', () => {
    const tricky = fc.string({ unit: fc.constantFrom('NaN', 'Infinity', '"', '\\', '\n', 'é') });
    fc.assert(
      fc.property(fc.array(tricky), fc.constantFrom('NaN', 'Infinity', '-Infinity'), (texts, number) => {
        const written = JSON.stringify(texts);
        const mixed = `{"texts": ${written}, "n": [${number}, 1, {"${number}": ${number}}]}`;
        expect(parseLenientJson(mixed)).toEqual({ texts, n: [null, 1, { [number]: null }] });
      }),
    );
  });

  it('reads a recorded history entry that holds both', () => {
    const text = readFileSync(join(__dirname, '../../../fixtures/captures/nan_history_raw.txt'), 'utf8');
    const [entry] = Object.values(parseLenientJson(text) as Record<string, { outputs: unknown; prompt: unknown[] }>);
    expect(entry?.outputs).toEqual({ '1': { n: [null, null] } });
    expect(JSON.stringify(entry?.prompt)).toContain('[NaN,Infinity]');
  });

  it.each(['', '{', 'Nan', '{"a": nan}', '"NaN', '[NaN'])('refuses %s, which is no JSON even so', (text) => {
    expect(() => parseLenientJson(text)).toThrow(SyntaxError);
  });

  it('takes time in proportion to the text', () => {
    const text = `[${'"\\"NaN\\\\",'.repeat(200_000)}NaN]`;
    expect(toStrictJson(text).endsWith('null]')).toBe(true);
  });
});
