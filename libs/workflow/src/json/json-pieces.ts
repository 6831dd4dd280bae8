import { JsonLimitError, JsonSyntaxError } from './json-error';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Where a value stands in a text: `start` inclusive, `end` exclusive. */
export interface JsonPiece {
  start: number;
  end: number;
}

/**
 * The members of the object that a text is, without reading their values: of duplicates the last. A value is only delimited; it is JSON
 * if `parseJson` takes its text. So a large text is read piece by piece, and never lies in memory as one document.
 *
 * @param most members with different names.
 * @throws {JsonSyntaxError} when the text is no object, or what stands between the values is not JSON.
 * @throws {JsonLimitError} when it has more members than `most`.
 */
export function memberPieces(text: string, most = Number.POSITIVE_INFINITY): Map<string, JsonPiece> {
  const found = new Map<string, JsonPiece>();
  const scanner = new Scanner(text);
  scanner.skipSpace();
  scanner.list(OPEN_OBJECT, CLOSE_OBJECT, 'a JSON object', () => {
    const key = scanner.key();
    found.set(key, scanner.piece());
    if (found.size > most) throw scanner.limit(`has more than ${most} members`);
  });
  scanner.end();
  return found;
}

/**
 * The items of the array that a piece of a text is, without reading them; see `memberPieces`.
 *
 * @throws {JsonSyntaxError} when the piece is no array, or what stands between the items is not JSON.
 */
export function itemPieces(text: string, { start }: JsonPiece): JsonPiece[] {
  const found: JsonPiece[] = [];
  const scanner = new Scanner(text, start);
  scanner.list(OPEN_ARRAY, CLOSE_ARRAY, 'an array', () => void found.push(scanner.piece()));
  return found;
}

/** Reads what stands around values. `charCodeAt` past the end is NaN, which equals no code. */
class Scanner {
  constructor(
    private readonly text: string,
    private at = 0,
  ) {}

  skipSpace(): void {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.at += 1;
      code = this.text.charCodeAt(this.at);
    }
  }

  /** An object or array, of which `read` takes one part after the other. */
  list(open: number, close: number, what: string, read: () => void): void {
    if (this.text.charCodeAt(this.at) !== open) throw this.expected(what);
    this.at += 1;
    this.skipSpace();
    if (this.text.charCodeAt(this.at) === close) {
      this.at += 1;
      return;
    }
    for (;;) {
      read();
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      if (code !== COMMA && code !== close) throw this.expected(`',' or '${String.fromCharCode(close)}' after a value`);
      this.at += 1;
      if (code === close) return;
      this.skipSpace();
    }
  }

  /** A member's name and the colon after it. */
  key(): string {
    const start = this.at;
    if (this.text.charCodeAt(start) !== QUOTE) throw this.expected('a member name in double quotes');
    this.skipString();
    const name = nameOf(this.text.slice(start, this.at));
    if (name === null) throw new JsonSyntaxError(this.text, start, 'a member name without control characters');
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== COLON) throw this.expected("':' after the member name");
    this.at += 1;
    this.skipSpace();
    return name;
  }

  /** The next value: up to what closes it, or for a word or a number up to the next separator. */
  piece(): JsonPiece {
    const start = this.at;
    let depth = 0;
    for (; this.at < this.text.length; this.at += 1) {
      const code = this.text.charCodeAt(this.at);
      if (code === QUOTE) {
        this.skipString();
        if (depth === 0) break;
        this.at -= 1;
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (depth === 0) break;
        depth -= 1;
        if (depth > 0) continue;
        this.at += 1;
        break;
      } else if (depth === 0 && (code === COMMA || code <= 0x20)) break;
    }
    if (this.at === start || depth > 0) throw this.expected('a value');
    return { start, end: this.at };
  }

  end(): void {
    this.skipSpace();
    if (this.at < this.text.length) throw this.expected('the end of the text after the value');
  }

  limit(complaint: string): JsonLimitError {
    return new JsonLimitError(this.text, this.at, complaint);
  }

  private skipString(): void {
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const code = this.text.charCodeAt(this.at);
      if (code === BACKSLASH) this.at += 1;
      else if (code === QUOTE) {
        this.at += 1;
        return;
      }
    }
    throw this.expected('a closing quote');
  }

  private expected(what: string): JsonSyntaxError {
    return new JsonSyntaxError(this.text, Math.min(this.at, this.text.length), what);
  }
}

function nameOf(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
