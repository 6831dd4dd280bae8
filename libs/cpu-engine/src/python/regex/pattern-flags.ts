import type { PatternReader } from './pattern-reader';

export interface PatternFlags {
  ignoreCase: boolean;
  multiline: boolean;
  dotAll: boolean;
}

export interface Flags extends PatternFlags {
  verbose: boolean;
  ascii: boolean;
}

const FLAG_LETTERS = { i: 'ignoreCase', m: 'multiline', s: 'dotAll', x: 'verbose', a: 'ascii' } as const;

/** `(?im)` at the very start counts for the whole pattern. */
export function globalFlags(reader: PatternReader, given: PatternFlags): Flags {
  let flags: Flags = { ...given, verbose: false, ascii: false };
  for (let back = reader.mark(); reader.skip('(?'); back = reader.mark()) {
    const letters = reader.run(/[aiLmsux]/);
    if (letters === '' || !reader.skip(')')) {
      back();
      break;
    }
    flags = withFlags(reader, flags, letters, true);
  }
  return flags;
}

/** The flags with those of `letters` on or off. */
export function withFlags(reader: PatternReader, flags: Flags, letters: string, value: boolean): Flags {
  const changed = { ...flags };
  for (const letter of letters) {
    if (letter === 'L') throw reader.error('the flag L is for patterns of bytes');
    if (letter !== 'u') changed[FLAG_LETTERS[letter as keyof typeof FLAG_LETTERS]] = value;
  }
  return changed;
}
