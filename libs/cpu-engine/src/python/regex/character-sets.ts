/** What `\d`, `\s` and `\w` stand for in a Python pattern of text, as the inside of a JavaScript class with the v flag. */
const UNICODE_SETS = {
  d: '\\p{Nd}',
  s: '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000',
  w: '\\p{L}\\p{N}_',
};

/** The same under the flag `a`. */
const ASCII_SETS = { d: '0-9', s: '\\t-\\r\\x20', w: 'A-Za-z0-9_' };

/** A set by the letter of its escape, upper case for its complement; undefined for other letters. */
export function characterSet(letter: string, ascii: boolean): string | undefined {
  const sets: Record<string, string> = ascii ? ASCII_SETS : UNICODE_SETS;
  const inside = Object.hasOwn(sets, letter.toLowerCase()) ? sets[letter.toLowerCase()] : undefined;
  if (inside === undefined) return undefined;
  return letter === letter.toLowerCase() ? `[${inside}]` : `[^${inside}]`;
}

/** `\b`, or `\B` if `inside`: a place between a word character and another, or one between two alike. */
export function wordBoundary(inside: boolean, ascii: boolean): string {
  const word = characterSet('w', ascii) as string;
  // Python up to 3.13 finds no \B in an empty text.
  return inside
    ? `(?:(?!^$)(?:(?<=${word})(?=${word})|(?<!${word})(?!${word})))`
    : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
}

/** A character that stands for itself, inside a class or outside. */
export function literal(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
