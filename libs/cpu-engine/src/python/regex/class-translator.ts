import { characterSet, literal } from './character-sets';
import type { PatternReader } from './pattern-reader';

/** One end of a range, or a set that can be none. */
type Item = { character: string } | { set: string };

/** `[...]` in a Python pattern, whose bracket has just been read, as a JavaScript class with the v flag. */
export function translateClass(reader: PatternReader, ascii: boolean): string {
  const negated = reader.skip('^');
  let inside = '';
  for (let first = true; first || reader.peek() !== ']'; first = false) {
    if (reader.atEnd) throw reader.error('a [ is not closed');
    inside += rangeOrItem(reader, ascii);
  }
  reader.next();
  return `[${negated ? '^' : ''}${inside}]`;
}

function rangeOrItem(reader: PatternReader, ascii: boolean): string {
  const low = item(reader, ascii);
  if (reader.peek() !== '-' || reader.peek(1) === ']') return written(low);
  reader.next();
  if (reader.atEnd) throw reader.error('a [ is not closed');
  const high = item(reader, ascii);
  if ('set' in low || 'set' in high) throw reader.error('a range ends in a set of characters');
  if ((low.character.codePointAt(0) as number) > (high.character.codePointAt(0) as number))
    throw reader.error(`the range ${low.character}-${high.character} runs backwards`);
  return `${literal(low.character)}-${literal(high.character)}`;
}

function item(reader: PatternReader, ascii: boolean): Item {
  const character = reader.next();
  if (character !== '\\') return { character };
  const letter = reader.next();
  const set = characterSet(letter, ascii);
  if (set !== undefined) return { set };
  if (letter === 'b') return { character: '\b' };
  if (letter === '0') return { character: reader.octalAfterZero() };
  if (/[1-7]/.test(letter)) return { character: octal(reader, letter) };
  return { character: reader.escapedCharacter(letter) };
}

function octal(reader: PatternReader, first: string): string {
  const digits = first + reader.run(/[0-7]/, 2);
  const code = parseInt(digits, 8);
  if (code > 0o377) throw reader.error(`\\${digits} is beyond \\377`);
  return String.fromCodePoint(code);
}

function written(item: Item): string {
  return 'set' in item ? item.set : literal(item.character);
}
