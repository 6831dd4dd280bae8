import { isMediaType } from './media-type';

describe('a media type', () => {
  it.each(['image/png', 'text/plain; charset=utf-8', 'a/b;c="d\\" e"', 'a/b ; c=d;e=f', 'a/b;', 'a/b; ;  ;c=d'])(
    'is %j',
    (text) => expect(isMediaType(text)).toBe(true),
  );

  it.each([
    '',
    'image',
    'image/',
    '/png',
    'a/b c',
    'a/b; c',
    'a/b; c=',
    'a/b; c="d',
    'a/b; c = d',
    `a/${'b'.repeat(254)}`,
  ])('is not %j', (text) => expect(isMediaType(text)).toBe(false));

  // Without an end to it, each pair would double the time.
  it.each(['; ', ' ;', ';\t ', '; a=b', '; a=""'])('is decided at once for many of %j before a fault', (pair) => {
    const text = `a/b${pair.repeat(Math.floor(250 / pair.length))}"`;
    expect(isMediaType(text)).toBe(false);
  });
});
