import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { keepStringMethodsFast } from './string-methods';

setFlagsFromString('--allow-natives-syntax');
/** The syntax is the engine's own. */
const isFast = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean;

describe('the methods of strings', () => {
  it('are slow from the first class on that extends String, and fast again once that is seen to', () => {
    const extend = (): unknown => class extends String {};
    expect(isFast(String.prototype)).toBe(true);
    extend();
    expect(isFast(String.prototype)).toBe(false);
    keepStringMethodsFast();
    expect(isFast(String.prototype)).toBe(true);
    extend();
    expect(isFast(String.prototype)).toBe(true);
  });
});
