/*
 * Texts that are cut between characters, with `…` where something is missing. Lengths are in UTF-16 units, without the `…`; a text
 * that was cut is not cut again.
 */

/** The beginning of a text, at most `length` of it. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The end of a text, at most `length` of it. */
export function endOf(text: string, length: number): string {
  return text.length <= length ? text : `…${text.slice(-length).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/**
 * The beginning and the end of a text, `length` of it at most with the `…` between them: what it is about stands at the beginning, and of
 * what a program printed the cause stands at the end.
 */
export function endsOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const begins = Math.floor(length / 4);
  return beginningOf(text, begins) + endOf(text, length - begins - 1).slice(1);
}
