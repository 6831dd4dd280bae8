/**
 * Reads the JSON that Python writes: `NaN`, `Infinity` and `-Infinity` outside strings become null, everything else is
 * RFC 8259. A node that reports one such value must not take the reader down.
 *
 * @throws {SyntaxError} when the text is not JSON even so
 */
export function parseLenientJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const strict = toStrictJson(text);
    if (strict === text) throw error;
    return JSON.parse(strict) as unknown;
  }
}

const NON_FINITE = /-?\bInfinity\b|\bNaN\b/g;

/** The same text with the non-finite numbers outside strings replaced by null. Linear in its length. */
export function toStrictJson(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const outside = quote < 0 ? text.slice(at) : text.slice(at, quote);
    parts.push(outside.replace(NON_FINITE, 'null'));
    if (quote < 0) break;
    at = endOfString(text, quote);
    parts.push(text.slice(quote, at));
  }
  return parts.join('');
}

/** The offset after the closing quote of the string that opens at `quote`; the text's end when it never closes. */
export function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}
