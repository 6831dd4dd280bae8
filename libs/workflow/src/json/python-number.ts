import type { JsonNode } from './json-document';

/**
 * How a Python engine turns literals into numbers: `int(value)` and `float(value)` over what `json.loads` gives. Null means
 * that the engine could not. Integers are exact: a bigint from 16 digits on.
 */

/** CPython refuses to convert longer integers from text (`sys.int_info.default_max_str_digits`). */
const MAX_INTEGER_DIGITS = 4_300;

/** Longer text is no number here: it would overflow the stack of the expressions below, and no one writes it. */
const MAX_LENGTH = 10_000;
const DIGITS = String.raw`\p{Nd}+(?:_\p{Nd}+)*`;
const INTEGER = new RegExp(String.raw`^[+-]?${DIGITS}$`, 'u');
const FLOAT = new RegExp(String.raw`^[+-]?(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`, 'u');
const INFINITY = /^([+-]?)(?:inf|infinity)$/i;
const NOT_A_NUMBER = /^[+-]?nan$/i;

/** `int(value)`: fractions are cut off, booleans are 0 and 1, strings must spell a whole number. */
export function pythonInt(value: JsonNode): number | bigint | null {
  if (value.kind === 'boolean') return Number(value.value);
  if (value.kind === 'number') {
    const number = jsonNumber(value.raw);
    return typeof number === 'number' ? whole(number) : number;
  }
  if (value.kind !== 'string') return null;
  const text = stripped(value.value);
  return text.length <= MAX_LENGTH && INTEGER.test(text) ? exact(ascii(text)) : null;
}

/** `float(value)`: the nearest double. NaN and infinities are values too, and a double too small or large becomes 0 or inf. */
export function pythonFloat(value: JsonNode): number | null {
  if (value.kind === 'boolean') return Number(value.value);
  if (value.kind === 'number') {
    const number = jsonNumber(value.raw);
    return typeof number === 'bigint' ? finite(number) : number;
  }
  if (value.kind !== 'string') return null;
  const text = stripped(value.value);
  if (text.length > MAX_LENGTH) return null;
  if (FLOAT.test(text)) return Number(ascii(text));
  if (NOT_A_NUMBER.test(text)) return NaN;
  const infinity = INFINITY.exec(text);
  return infinity ? Number(`${infinity[1]}Infinity`) : null;
}

/** What `json.loads` makes of a number: an exact integer, or with a point or an exponent the nearest double. */
export function jsonNumber(raw: string): number | bigint | null {
  return /[.eE]/.test(raw) ? Number(raw) : exact(raw);
}

function exact(integer: string): number | bigint | null {
  if (integer.length <= 15) return Number(integer);
  const digits = integer.replace(/^[+-]/, '');
  if (digits.length > MAX_INTEGER_DIGITS) return null;
  return integer.startsWith('-') ? -BigInt(digits) : BigInt(digits);
}

function whole(value: number): number | null {
  return Number.isFinite(value) ? Math.trunc(value) : null;
}

/** Python raises OverflowError where an integer is beyond the doubles. */
function finite(value: bigint): number | null {
  const double = Number(value);
  return Number.isFinite(double) ? double : null;
}

/** `str.strip()`: what JavaScript calls white space, and the five control characters that only Python does. */
function stripped(text: string): string {
  const isSpace = (at: number): boolean => {
    const code = text.charCodeAt(at);
    return (code >= 0x1c && code <= 0x1f) || code === 0x85 || /\s/.test(text.charAt(at));
  };
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start += 1;
  while (start < end && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** The same number in ASCII. Python reads the decimal digits of every script, and `_` between digits. */
function ascii(text: string): string {
  return text.replaceAll('_', '').replace(/\P{ASCII}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

const digitValues = new Map<number, number>();

/** Unicode lays the digits 0 to 9 of a script out in a row, and such rows end to end. */
function digitValue(code: number): number {
  const known = digitValues.get(code);
  if (known !== undefined) return known;
  let before = 0;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  digitValues.set(code, before % 10);
  return before % 10;
}
