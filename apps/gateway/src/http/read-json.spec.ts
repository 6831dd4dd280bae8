import { readJson } from './read-json';

const read = (text: string, maxValues = 10): unknown => readJson(Buffer.from(text), maxValues);

describe('the JSON of a body', () => {
  it('is read, and nothing is an empty object', () => {
    expect(read('{"a":[1,"é"]}')).toEqual({ a: [1, 'é'] });
    expect(read('')).toEqual({});
  });

  it('is refused with 400 where it is none', () => {
    for (const text of ['{', '[1,]', '"', ']]]]', '\\', '{"a":"\\']) {
      const refusal = expect.objectContaining({ code: 'invalid_request', status: 400 }) as Error;
      expect(() => read(text)).toThrow(refusal);
    }
  });

  it('is refused before it is parsed where it holds too many values, or is too deep', () => {
    expect(() => read('[[],{},1,2,3,4,5,6,7,8]')).toThrow('more than 10 values');
    expect(() => read(`${'['.repeat(65)}${']'.repeat(65)}`, 1_000)).toThrow('more than 64 deep');
    expect(read(`${'['.repeat(64)}${']'.repeat(64)}`, 1_000)).toBeDefined();
  });

  it('may have in its texts what looks like more values', () => {
    const text = '[[[[{{{{,,,,,,,,\\"[{,';
    expect(read(JSON.stringify({ [text]: [text, '\\', text] }))).toEqual({ [text]: [text, '\\', text] });
  });
});
