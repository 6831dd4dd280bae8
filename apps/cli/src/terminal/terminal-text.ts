import { format } from 'jsonc-parser';

/**
 * Control sequences and control strings (ECMA-48, 5.4 and 5.6): colours, cursor moves, titles, links. Not Node's own
 * `stripVTControlCharacters`, which counts text up to a later bell as part of a colour.
 */
const SEQUENCE =
  /(?:\u001b\[|\u009b)[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g;

/**
 * Control, format (bidirectional overrides and the like) and line-separating characters, lone surrogates; all but the
 * joiners that scripts and emoji need.
 */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const UNSAFE_IN_BLOCK = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Sanitizes foreign text to one line of a terminal: escape sequences are removed, every other control or bidirectional
 * character is shown as its code point.
 */
export function plainLine(text: string): string {
  return text
    .replace(SEQUENCE, '')
    .replace(/\r\n|[\r\n\t]/g, ' ')
    .replace(UNSAFE, spelledOut);
}

/** The same for text of several lines: line breaks and tabs stay, a lone carriage return breaks the line. */
export function plainBlock(text: string): string {
  return text.replace(SEQUENCE, '').replace(/\r\n?/g, '\n').replace(UNSAFE_IN_BLOCK, spelledOut);
}

/** JSON with every unsafe character escaped: for a program and for a terminal. */
export function safeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value, null, 2));
}

/** The same of a JSON text, whose numbers keep their digits. */
export function safeJsonText(text: string): string {
  const parts: string[] = [];
  let at = 0;
  // In the order of the text. `applyEdits` would copy all of it for each.
  for (const { offset, length, content } of format(text, undefined, { insertSpaces: true, tabSize: 2, eol: '\n' })) {
    parts.push(text.slice(at, offset), content);
    at = offset + length;
  }
  return escapeJson(parts.join('') + text.slice(at));
}

/** Escapes unsafe characters inside the strings of a JSON text; its value stays the same. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE_IN_BLOCK, (character) =>
    [...Array(character.length).keys()].map((at) => escape(character.charCodeAt(at))).join(''),
  );
}

function escape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
