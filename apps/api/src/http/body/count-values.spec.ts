import { countValues } from './count-values';

describe('the values of a JSON document', () => {
  it('are itself and all inside it', () => {
    expect(countValues(null, 100)).toBe(1);
    expect(countValues({ a: [1, 'two', null], b: {} }, 100)).toBe(6);
  });

  it('are counted a little beyond the limit, however many there are and however deep', () => {
    expect(countValues(Array(30_000).fill(0), 100)).toBe(101);
    expect(countValues(JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`), 100)).toBe(101);
  });
});
