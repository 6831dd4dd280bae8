import { describe } from '../../node-api/value';
import { characterSet, literal, wordBoundary } from './character-sets';
import { translateClass } from './class-translator';
import { globalFlags, withFlags, type Flags, type PatternFlags } from './pattern-flags';
import { PatternReader } from './pattern-reader';
import { readQuantifier } from './quantifier';
import { RegexUnsupported } from './regex-error';

/** A JavaScript pattern for the flag v; Python's group n is the group named `gn`. */
export interface TranslatedPattern {
  source: string;
  ignoreCase: boolean;
  groupCount: number;
  names: ReadonlyMap<string, number>;
}

/** One piece of a pattern that a quantifier can follow; `kind` says whether it may. */
interface Piece {
  source: string;
  kind: 'item' | 'place' | 'repeat' | 'nothing';
}

/**
 * A Python pattern (`re` of 3.11) in JavaScript's syntax. Groups within a repetition that take no part in its last round
 * are empty here and keep their earlier match in Python; a reference to a group without a match is empty here and fails
 * there; look-behind may be of any length here. Not supported: conditionals, `\N{…}`, `i` for a part of the pattern.
 *
 * @throws {RegexSyntaxError} when Python refuses the pattern too.
 * @throws {RegexUnsupported} when only this engine does.
 */
export function translatePattern(pattern: string, flags: PatternFlags): TranslatedPattern {
  return new PatternTranslator(pattern).translate(flags);
}

/** Groups within one another. Python itself gives out at about three hundred. */
const MAX_DEPTH = 250;

class PatternTranslator {
  private readonly reader: PatternReader;
  private readonly names = new Map<string, number>();
  private readonly openGroups = new Set<number>();
  private groupCount = 0;
  private atomicCount = 0;
  private depth = 0;
  private ignoreCase = false;

  constructor(pattern: string) {
    this.reader = new PatternReader(pattern);
  }

  translate(given: PatternFlags): TranslatedPattern {
    const flags = globalFlags(this.reader, given);
    this.ignoreCase = flags.ignoreCase;
    const source = this.alternatives(flags);
    if (!this.reader.atEnd) throw this.reader.error('a ) has no ( before it');
    const { ignoreCase, groupCount, names } = this;
    return { source, ignoreCase, groupCount, names };
  }

  private alternatives(flags: Flags): string {
    if (this.depth > MAX_DEPTH)
      throw new RegexUnsupported(
        `The pattern nests groups too deeply; at most ${MAX_DEPTH} within one another are read.`,
      );
    this.depth += 1;
    let source = this.sequence(flags);
    while (this.reader.skip('|')) source += `|${this.sequence(flags)}`;
    this.depth -= 1;
    return source;
  }

  private sequence(flags: Flags): string {
    let source = '';
    let last: Piece = { source: '', kind: 'nothing' };
    while (!this.reader.atEnd && !'|)'.includes(this.reader.peek())) {
      if (flags.verbose && this.skipRemark()) continue;
      const repeat = readQuantifier(this.reader);
      if (repeat === null) {
        source += last.source;
        last = this.piece(flags);
      } else last = this.repeated(last, repeat);
    }
    return source + last.source;
  }

  private skipRemark(): boolean {
    if (/[ \t\n\r\f\v]/.test(this.reader.peek())) return this.reader.next() !== '';
    if (!this.reader.skip('#')) return false;
    this.reader.run(/[^\n]/);
    return true;
  }

  private repeated(piece: Piece, repeat: string): Piece {
    const { reader } = this;
    if (piece.kind === 'repeat') throw reader.error('a quantifier follows a quantifier');
    if (piece.kind !== 'item') throw reader.error('a quantifier has nothing to repeat');
    const source = `${piece.source}${repeat}`;
    if (reader.skip('+')) return { source: this.atomic(source), kind: 'repeat' };
    return { source: reader.skip('?') ? `${source}?` : source, kind: 'repeat' };
  }

  /** What a part matches first and does not give back: a look ahead, then the same text again. */
  private atomic(source: string): string {
    this.atomicCount += 1;
    return `(?:(?=(?<a${this.atomicCount}>${source}))\\k<a${this.atomicCount}>)`;
  }

  private piece(flags: Flags): Piece {
    const character = this.reader.next();
    switch (character) {
      case '.':
        return { source: flags.dotAll ? '[\\s\\S]' : '[^\\n]', kind: 'item' };
      case '^':
        return { source: flags.multiline ? '(?:^|(?<=\\n))' : '^', kind: 'place' };
      case '$':
        return { source: flags.multiline ? '(?=\\n|$)' : '(?=\\n?$)', kind: 'place' };
      case '[':
        return { source: translateClass(this.reader, flags.ascii), kind: 'item' };
      case '(':
        return this.group(flags);
      case '\\':
        return this.escape(flags);
      default:
        return { source: literal(character), kind: 'item' };
    }
  }

  private escape(flags: Flags): Piece {
    const { reader } = this;
    const letter = reader.next();
    if (letter === 'A') return { source: '^', kind: 'place' };
    if (letter === 'Z') return { source: '$', kind: 'place' };
    if (letter === 'b' || letter === 'B') return { source: wordBoundary(letter === 'B', flags.ascii), kind: 'place' };
    const set = characterSet(letter, flags.ascii);
    if (set !== undefined) return { source: set, kind: 'item' };
    if (letter === '0') return { source: literal(reader.octalAfterZero()), kind: 'item' };
    if (/[1-9]/.test(letter)) return { source: this.numberedEscape(letter), kind: 'item' };
    return { source: literal(reader.escapedCharacter(letter)), kind: 'item' };
  }

  /** Three octal digits are a character, anything else the number of a group. */
  private numberedEscape(first: string): string {
    const { reader } = this;
    let digits = first + reader.run(/[0-9]/, 1);
    if (/^[0-3][0-7]$/.test(digits) && /[0-7]/.test(reader.peek())) {
      digits += reader.next();
      return literal(String.fromCodePoint(parseInt(digits, 8)));
    }
    return this.reference(Number(digits));
  }

  private reference(group: number): string {
    if (group > this.groupCount) throw this.reader.error(`there is no group ${group}`);
    if (this.openGroups.has(group)) throw this.reader.error(`group ${group} refers to itself`);
    return `\\k<g${group}>`;
  }

  private group(flags: Flags): Piece {
    const { reader } = this;
    if (!reader.skip('?')) return this.capturing(flags, null);
    if (reader.skip('P<')) return this.capturing(flags, this.newName(reader.until('>', 'a group name')));
    if (reader.skip('P=')) return { source: this.namedReference(reader.until(')', 'a group reference')), kind: 'item' };
    if (reader.skip('#')) {
      reader.until(')', 'a comment');
      return { source: '', kind: 'nothing' };
    }
    if (reader.skip('>')) return { source: this.atomic(this.body(flags)), kind: 'item' };
    if (reader.skip('(')) throw new RegexUnsupported('Conditional groups, (?(1)…|…), are not supported here.');
    for (const look of [':', '=', '!', '<=', '<!'])
      if (reader.skip(look)) return { source: `(?:(?${look}${this.body(flags)}))`, kind: 'item' };
    return this.flaggedGroup(flags);
  }

  private flaggedGroup(flags: Flags): Piece {
    const { reader } = this;
    const on = reader.run(/[aiLmsux]/);
    const off = reader.skip('-') ? reader.run(/[imsx]/) : '';
    if (on + off === '') throw reader.error(`(?${reader.peek()} means nothing`);
    if (!reader.skip(':')) throw reader.error('flags for the whole pattern must stand at its start');
    const changed = withFlags(reader, withFlags(reader, flags, on, true), off, false);
    if (changed.ignoreCase !== this.ignoreCase)
      throw new RegexUnsupported('The flag i for a part of the pattern is not supported here; set it for the whole.');
    return { source: `(?:${this.body(changed)})`, kind: 'item' };
  }

  private capturing(flags: Flags, name: string | null): Piece {
    const group = (this.groupCount += 1);
    if (name !== null) this.names.set(name, group);
    this.openGroups.add(group);
    const body = this.body(flags);
    this.openGroups.delete(group);
    return { source: `(?<g${group}>${body})`, kind: 'item' };
  }

  private body(flags: Flags): string {
    const source = this.alternatives(flags);
    if (!this.reader.skip(')')) throw this.reader.error('a ( is not closed');
    return source;
  }

  private newName(name: string): string {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw this.reader.error(`${describe(name)} is no group name`);
    if (this.names.has(name)) throw this.reader.error(`the group name ${describe(name)} is used twice`);
    return name;
  }

  private namedReference(name: string): string {
    const group = this.names.get(name);
    if (group === undefined) throw this.reader.error(`there is no group ${describe(name)}`);
    return this.reference(group);
  }
}
