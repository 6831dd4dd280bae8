import { RegexSyntaxError, RegexUnsupported } from './regex-error';

const SHORT_ESCAPES: Record<string, string> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const HEX_LENGTHS: Record<string, number> = { x: 2, u: 4, U: 8 };

/** The characters of a pattern, one after the other, and the escapes that stand for a single character. */
export class PatternReader {
  private readonly characters: string[];
  private at = 0;

  constructor(pattern: string) {
    this.characters = [...pattern];
  }

  get atEnd(): boolean {
    return this.at >= this.characters.length;
  }

  peek(offset = 0): string {
    return this.characters[this.at + offset] ?? '';
  }

  next(): string {
    return this.characters[this.at++] ?? '';
  }

  /** Go past `text` if it comes next. */
  skip(text: string): boolean {
    const found = [...text].every((character, offset) => this.peek(offset) === character);
    if (found) this.at += text.length;
    return found;
  }

  /** The characters up to `end`, which is gone past too. */
  until(end: string, what: string): string {
    let text = '';
    while (!this.skip(end)) {
      if (this.atEnd) throw this.error(`${what} has no ${JSON.stringify(end)} at its end`);
      text += this.next();
    }
    return text;
  }

  /** As many characters of the kind as come next, at most `most`. */
  run(kind: RegExp, most = Infinity): string {
    let text = '';
    while (text.length < most && !this.atEnd && kind.test(this.peek())) text += this.next();
    return text;
  }

  /** Back to an earlier place, for what turns out to be plain text. */
  mark(): () => void {
    const { at } = this;
    return () => void (this.at = at);
  }

  /** The character that an escape stands for whose letter has just been read. */
  escapedCharacter(letter: string): string {
    if (SHORT_ESCAPES[letter] !== undefined) return SHORT_ESCAPES[letter];
    const hexLength = HEX_LENGTHS[letter];
    if (hexLength !== undefined) return this.hexCharacter(letter, hexLength);
    if (letter === 'N') throw new RegexUnsupported('\\N{…} is not supported here; write the character itself.');
    if (/[A-Za-z0-9]/.test(letter)) throw this.error(`\\${letter} means nothing`);
    if (letter === '') throw this.error('it ends in a backslash');
    return letter;
  }

  /** `\0`, and one or two octal digits after it. */
  octalAfterZero(): string {
    return String.fromCodePoint(parseInt(`0${this.run(/[0-7]/, 2)}`, 8));
  }

  error(reason: string): RegexSyntaxError {
    return new RegexSyntaxError(`The pattern is not a regular expression: ${reason} (position ${this.at}).`);
  }

  private hexCharacter(letter: string, length: number): string {
    const digits = this.run(/[0-9A-Fa-f]/, length);
    const code = parseInt(digits, 16);
    if (digits.length < length || code > 0x10ffff) throw this.error(`\\${letter} needs ${length} hexadecimal digits`);
    return String.fromCodePoint(code);
  }
}
