import { describe } from '../../node-api/value';
import { RegexSyntaxError } from './regex-error';

/** A replacement: plain text, and the numbers of groups whose match stands there. */
type Template = (string | number)[];

const ESCAPES: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** One escape of a replacement: a group, an octal number, or any other character. */
const ESCAPE = /\\(?:g<([^>]*)>|(0[0-7]{0,2}|[1-3][0-7]{2})|([1-9][0-9]?)|([^]|$))/gu;

/**
 * Reads the replacement of Python's `re.sub`: `\1`, `\g<1>`, `\g<name>`, `\n` and its like. A backslash before
 * anything but a letter or digit stands for itself.
 *
 * @throws {RegexSyntaxError} as Python does.
 */
export function readTemplate(text: string, groupCount: number, names: ReadonlyMap<string, number>): Template {
  const template: Template = [];
  let at = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, reference, octal, number, letter = ''] = match;
    template.push(text.slice(at, match.index));
    at = match.index + whole.length;
    if (octal !== undefined) template.push(String.fromCodePoint(parseInt(octal, 8)));
    else if (number !== undefined || reference !== undefined)
      template.push(groupOf(number ?? reference ?? '', groupCount, names));
    else template.push(escaped(letter));
  }
  template.push(text.slice(at));
  return template;
}

function groupOf(reference: string, groupCount: number, names: ReadonlyMap<string, number>): number {
  const group = /^[0-9]+$/.test(reference) ? Number(reference) : names.get(reference);
  if (group === undefined || group > groupCount)
    throw new RegexSyntaxError(`The replacement refers to group ${describe(reference)}, which is not there.`);
  return group;
}

function escaped(letter: string): string {
  const text = ESCAPES[letter];
  if (text !== undefined) return text;
  if (letter === '') throw new RegexSyntaxError('The replacement ends in a backslash; write two of them for one.');
  if (/[A-Za-z]/.test(letter)) throw new RegexSyntaxError(`\\${letter} means nothing in a replacement.`);
  return `\\${letter}`;
}
