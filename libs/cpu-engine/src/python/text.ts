import { checkTextLength } from '../node-api/text-length';

// Python counts, slices and cases text by code points; JavaScript by UTF-16 units.

/** The characters that `str.strip()` removes. */
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const LEADING = new RegExp(`^[${SPACE}]+`, 'u');
const SPACES = new RegExp(`^[${SPACE}]$`, 'u');

/** `len(text)`. */
export function lengthOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += pointLength(text, at)) count += 1;
  return count;
}

/** `text[start:end]`: negative places count from the end, places beyond it are taken back to it. */
export function sliceText(text: string, start: bigint, end: bigint): string {
  const points = [...text];
  const place = (index: bigint): number => Number(index < -points.length ? -points.length : index);
  return points.slice(place(start), place(end > points.length ? BigInt(points.length) : end)).join('');
}

/** `text.lstrip()`. */
export function stripStart(text: string): string {
  return text.replace(LEADING, '');
}

/** `text.rstrip()`. */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && SPACES.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * `text.replace(find, replace)`: with nothing to find, between all characters and at both ends.
 *
 * @throws {NodeFault} when the result would be too long.
 */
export function replaceText(text: string, find: string, replace: string): string {
  const kept = find === '' ? ['', ...text, ''] : text.split(find);
  checkTextLength(text.length + (kept.length - 1) * (replace.length - find.length));
  return kept.join(replace);
}

/** `text.capitalize()`: the first character in title case, the others in lower case. */
export function capitalized(text: string): string {
  const first = text.slice(0, pointLength(text, 0));
  // Whether a sigma is the last of its word depends on what stands before it, so the whole text is lowered.
  return first === '' ? '' : titleCase(first) + lowered(text).slice(lowered(first).length);
}

/** `text.title()`: every run of cased characters begins in title case and goes on in lower case. */
export function titled(text: string): string {
  // Lowered as a whole, because a sigma at the end of its word has a form of its own.
  const lower = lowered(text);
  let afterCased = false;
  let result = '';
  let at = 0;
  for (const character of text) {
    const { length } = lowered(character);
    result += afterCased ? lower.slice(at, at + length) : titleCase(character);
    afterCased = CASED.test(character);
    at += length;
  }
  return result;
}

/** `text.lower()`. */
export function lowered(text: string): string {
  return text.toLowerCase();
}

const CASED = /\p{Cased}/u;

/** The Latin letter pairs of Unicode with a title case of their own, as [upper, title, lower]. */
const DIGRAPHS = ['\u01c4\u01c5\u01c6', '\u01c7\u01c8\u01c9', '\u01ca\u01cb\u01cc', '\u01f1\u01f2\u01f3'];

/** A single character in title case (Unicode, UnicodeData and SpecialCasing). */
function titleCase(character: string): string {
  const digraph = DIGRAPHS.find((forms) => forms.includes(character));
  if (digraph) return digraph.charAt(1);
  // Georgian has no title case; the n of \u0149 stays large.
  if (/[\u10d0-\u10ff]/.test(character)) return character;
  const upper = character.toUpperCase();
  if (character === '\u0149') return upper;
  const [first = '', ...others] = upper;
  if (others.length > 0 && upper.endsWith('\u0399')) return withIotaBelow(upper);
  return first + others.join('').toLowerCase();
}

/** Greek vowels keep their iota below in title case, where upper case sets it beside them. */
function withIotaBelow(upper: string): string {
  const below = `${upper.slice(0, -1)}\u0345`;
  const composed = below.normalize('NFC');
  return composed.length === 1 ? composed : below;
}

function pointLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
