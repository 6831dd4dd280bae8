import { pythonJsonBytes } from './size-bounds';

describe('the bytes of a JSON text once Python has read and written it', () => {
  it.each([
    ['[1,2]', '[1, 2]'],
    ['{"a":"ü,:"}', '{"a": "\\u00fc,:"}'],
    ['"\u007f😀"', '"\\u007f\\ud83d\\ude00"'],
    ['1e15', '1000000000000000.0'],
    ['[1E0,2e+1]', '[1.0, 20.0]'],
    ['-1e999', '-Infinity'],
    ['12345678901234567.5', '1.2345678901234568e+16'],
    ['-2.2250738585072014E-308', '-2.2250738585072014e-308'],
    ['18446744073709551615', '18446744073709551615'],
    ['"\\"1e15\\\\"', '"\\"1e15\\\\"'],
  ])('are no more than it says: %s', (json, python) => {
    expect(pythonJsonBytes(json)).toBeGreaterThanOrEqual(python.length);
  });

  it('are little more for what a graph has', () => {
    const json = `{"1":{"class_type":"KSampler","inputs":{"seed":18446744073709551615,"text":"v1.5, 1e3 \\"x\\" 2.5 2.5 2.5"}}}`;
    expect(pythonJsonBytes(json)).toBeLessThan(json.length + 15);
  });
});
