/** Line and column, both from 1, of an offset; a line ends with LF, CR LF or CR. */
function placeOf(text: string, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < offset; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) {
      line += 1;
      lineStart = at + 1;
    }
  }
  return `line ${line}, column ${offset - lineStart + 1}`;
}

function foundAt(text: string, offset: number): string {
  const code = text.codePointAt(offset);
  if (code === undefined) return 'the text ends';
  const printable =
    code > 0x20 && code !== 0x7f && (code < 0x80 || /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(String.fromCodePoint(code)));
  if (printable) return `there is '${String.fromCodePoint(code)}'`;
  return `there is the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text is not JSON. `message` is one sentence for the author of the text; `offset` is in UTF-16 code units. */
export class JsonSyntaxError extends Error {
  override readonly name: string = 'JsonSyntaxError';

  constructor(
    text: string,
    readonly offset: number,
    expected: string,
    message = `Expected ${expected} at ${placeOf(text, offset)}, where ${foundAt(text, offset)}.`,
  ) {
    super(message);
  }
}

/** The text may well be JSON, but is nested deeper or holds more values than is read. */
export class JsonLimitError extends JsonSyntaxError {
  override readonly name: string = 'JsonLimitError';

  constructor(text: string, offset: number, complaint: string) {
    super(
      text,
      offset,
      '',
      `The JSON text ${complaint}, which is the limit; it is passed at ${placeOf(text, offset)}.`,
    );
  }
}

/**
 * Why the JSON of a request cannot be read, for its sender. A text beyond a limit is not called invalid: it may be sound.
 *
 * @param where what of the body it is about, as the begin of a sentence.
 */
export function jsonFault(error: JsonSyntaxError, where = ''): string {
  return `${error instanceof JsonLimitError ? '' : 'The body is not valid JSON. '}${where}${error.message}`;
}
