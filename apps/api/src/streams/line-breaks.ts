/** Line breaks to Unicode that JSON leaves in its strings as they are: next line, line separator, paragraph separator. */
const BREAKS = /[\u0085\u2028\u2029]/g;

/**
 * JSON in which no reader of lines sees a line break, with the same meaning. To the format of event streams only CR and LF end a
 * line, but httpx splits as `str.splitlines` of Python does, and the official client for Python reads events through it: the rest
 * of their data would be lost to it. What else that splits on are control characters, which JSON always escapes.
 *
 * @param json without line breaks between its tokens; also frames whose data are such JSON.
 */
export function withoutLineBreaks(json: string): string {
  return json.replace(BREAKS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
