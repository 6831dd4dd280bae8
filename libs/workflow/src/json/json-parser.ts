import type { JsonEntry, JsonNode } from './json-document';
import { JsonLimitError, JsonSyntaxError } from './json-error';

export interface JsonLimits {
  /** Levels of arrays and objects inside one another; default 128, at most 1,000. */
  maxDepth?: number;
  /**
   * Values of any kind in the whole text; default 100,000. Each costs about 100 bytes while the document lives. Real graphs
   * hold about 11 for each node (283 in the 26 nodes of the largest example), so that 5,000 nodes, the most that are
   * accepted, hold 55,000.
   */
  maxValues?: number;
}

const JSON_DEFAULT_LIMITS = { maxDepth: 128, maxValues: 100_000 } as const;

/** The parser and every reader of a document recurse once per level; this many levels fit any stack with room to spare. */
const DEPTH_CEILING = 1_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** After so many plain characters `PLAIN` reads on: a call of it costs as much as a few dozen, and then it is four times as fast. */
const LONG_STRING = 64;
/** Characters that stand for themselves in a string, from `lastIndex` on. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;

/**
 * Reads a JSON text (RFC 8259: exactly what `JSON.parse` accepts, to the byte) in one pass, in time linear in its length.
 *
 * @throws {JsonSyntaxError} when the text is not JSON
 * @throws {JsonLimitError} when it is nested deeper or holds more values than `limits` allow
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonNode {
  const { maxDepth = JSON_DEFAULT_LIMITS.maxDepth, maxValues = JSON_DEFAULT_LIMITS.maxValues } = limits;
  if (!(maxDepth <= DEPTH_CEILING))
    throw new RangeError(`maxDepth is ${maxDepth}, and can be at most ${DEPTH_CEILING}.`);
  return new Reader(text, maxDepth, maxValues).document();
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isHex(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

/** `" \ / b f n r t`; `u` is the caller's. */
function isShortEscape(code: number): boolean {
  return (
    code === QUOTE ||
    code === BACKSLASH ||
    code === 0x2f ||
    code === 0x62 ||
    code === 0x66 ||
    code === 0x6e ||
    code === 0x72 ||
    code === 0x74
  );
}

/** Recursive descent over character codes. `charCodeAt` past the end is NaN, which equals no code: no bounds checks. */
class Reader {
  private at = 0;
  private values = 0;

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    private readonly maxValues: number,
  ) {}

  document(): JsonNode {
    this.skipSpace();
    const root = this.value(1);
    this.skipSpace();
    if (this.at < this.text.length) throw this.expected('the end of the text after the value');
    return root;
  }

  private value(depth: number): JsonNode {
    this.values += 1;
    if (this.values > this.maxValues) throw this.tooMany();
    const code = this.text.charCodeAt(this.at);
    if (code === QUOTE) {
      const start = this.at;
      const value = this.string();
      return { kind: 'string', start, end: this.at, value };
    }
    if (code === OPEN_OBJECT) return this.object(depth);
    if (code === OPEN_ARRAY) return this.array(depth);
    if (code === MINUS || isDigit(code)) return this.number();
    return this.word();
  }

  private object(depth: number): JsonNode {
    if (depth > this.maxDepth) throw this.tooDeep();
    const start = this.at;
    const entries: JsonEntry[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.text.charCodeAt(this.at) === CLOSE_OBJECT) {
      this.at += 1;
      return { kind: 'object', start, end: this.at, entries };
    }
    for (;;) {
      if (this.text.charCodeAt(this.at) !== QUOTE) throw this.expected('a member name in double quotes');
      const key = this.string();
      this.skipSpace();
      if (this.text.charCodeAt(this.at) !== COLON) throw this.expected("':' after the member name");
      this.at += 1;
      this.skipSpace();
      entries.push({ key, value: this.value(depth + 1) });
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      if (code !== COMMA && code !== CLOSE_OBJECT) throw this.expected("',' or '}' after a member of an object");
      this.at += 1;
      if (code === CLOSE_OBJECT) return { kind: 'object', start, end: this.at, entries };
      this.skipSpace();
    }
  }

  private array(depth: number): JsonNode {
    if (depth > this.maxDepth) throw this.tooDeep();
    const start = this.at;
    const items: JsonNode[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.text.charCodeAt(this.at) === CLOSE_ARRAY) {
      this.at += 1;
      return { kind: 'array', start, end: this.at, items };
    }
    for (;;) {
      items.push(this.value(depth + 1));
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      if (code !== COMMA && code !== CLOSE_ARRAY) throw this.expected("',' or ']' after an item of an array");
      this.at += 1;
      if (code === CLOSE_ARRAY) return { kind: 'array', start, end: this.at, items };
      this.skipSpace();
    }
  }

  /** At an opening quote. A string without escapes is a slice; one with escapes is checked here and decoded natively. */
  private string(): string {
    const { text } = this;
    const start = this.at;
    let at = start + 1;
    let plainFrom = at;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        escaped = true;
        at = this.afterEscape(at);
        plainFrom = at;
      } else if (code >= 0x20) {
        at += 1;
        if (at - plainFrom === LONG_STRING) at = this.afterPlain(at);
      } else {
        this.at = at;
        throw this.expected('a closing quote, with control characters inside strings escaped');
      }
    }
    this.at = at + 1;
    return escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at);
  }

  private afterPlain(from: number): number {
    PLAIN.lastIndex = from;
    PLAIN.test(this.text);
    return PLAIN.lastIndex;
  }

  private afterEscape(backslash: number): number {
    const { text } = this;
    const code = text.charCodeAt(backslash + 1);
    if (isShortEscape(code)) return backslash + 2;
    let at = backslash + 2;
    const end = backslash + 6;
    if (code === 0x75) while (at < end && isHex(text.charCodeAt(at))) at += 1;
    if (at === end) return end;
    this.at = backslash;
    throw this.expected('one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hexadecimal digits');
  }

  private number(): JsonNode {
    const { text } = this;
    const start = this.at;
    let at = start;
    if (text.charCodeAt(at) === MINUS) at += 1;
    if (text.charCodeAt(at) === 0x30) at += 1;
    else at = this.digits(at);
    if (text.charCodeAt(at) === POINT) at = this.digits(at + 1);
    let code = text.charCodeAt(at);
    if (code === 0x65 || code === 0x45) {
      code = text.charCodeAt(at + 1);
      at = this.digits(code === MINUS || code === 0x2b ? at + 2 : at + 1);
    }
    this.at = at;
    return { kind: 'number', start, end: at, raw: text.slice(start, at) };
  }

  private digits(from: number): number {
    let at = from;
    while (isDigit(this.text.charCodeAt(at))) at += 1;
    if (at > from) return at;
    this.at = at;
    throw this.expected('a digit');
  }

  private word(): JsonNode {
    const { text, at: start } = this;
    if (text.startsWith('true', start)) return { kind: 'boolean', start, end: (this.at += 4), value: true };
    if (text.startsWith('false', start)) return { kind: 'boolean', start, end: (this.at += 5), value: false };
    if (text.startsWith('null', start)) return { kind: 'null', start, end: (this.at += 4) };
    throw this.expected('a value');
  }

  private skipSpace(): void {
    const { text } = this;
    let { at } = this;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt((at += 1));
    this.at = at;
  }

  private expected(what: string): JsonSyntaxError {
    return new JsonSyntaxError(this.text, this.at, what);
  }

  private tooDeep(): JsonLimitError {
    return new JsonLimitError(this.text, this.at, `is nested deeper than ${this.maxDepth} levels`);
  }

  private tooMany(): JsonLimitError {
    return new JsonLimitError(this.text, this.at, `holds more than ${this.maxValues} values`);
  }
}
