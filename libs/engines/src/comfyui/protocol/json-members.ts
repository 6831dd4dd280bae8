const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * The members of an object in a JSON text in UTF-8, one after the other: the name as it is written, and the offset of the value. Nothing of
 * the text is parsed or copied, and what is read of it is read once. Ends early where the text is no JSON.
 *
 * @param at the offset of the object
 */
export function* membersOf(json: Buffer, at: number): Generator<[name: string, valueAt: number]> {
  for (let here = afterSpace(json, at); json[here] === 0x7b || json[here] === COMMA;) {
    const nameAt = afterSpace(json, here + 1);
    const nameEnd = endOfString(json, nameAt);
    const colonAt = afterSpace(json, nameEnd);
    if (json[nameAt] !== QUOTE || json[colonAt] !== COLON) return;
    const valueAt = afterSpace(json, colonAt + 1);
    yield [json.toString('utf8', nameAt + 1, nameEnd - 1), valueAt];
    here = afterSpace(json, endOfValue(json, valueAt));
  }
}

/** The offset after the value that begins at an offset; the text's end where it does not end. */
export function endOfValue(json: Buffer, at: number): number {
  let depth = 0;
  for (let here = at; here < json.length; here += 1) {
    const byte = json[here] ?? 0;
    if (byte === QUOTE) here = endOfString(json, here) - 1;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) {
      if (depth === 0) return here;
      depth -= 1;
    } else if (byte === COMMA && depth === 0) return here;
    if (depth === 0 && (byte === QUOTE || CLOSING.has(byte))) return here + 1;
  }
  return json.length;
}

function endOfString(json: Buffer, at: number): number {
  for (let end = json.indexOf(QUOTE, at + 1); end >= 0; end = json.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return json.length;
}

function afterSpace(json: Buffer, at: number): number {
  let here = at;
  while (SPACE.has(json[here] ?? 0)) here += 1;
  return here;
}
