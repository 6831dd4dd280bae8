import type { PatternReader } from './pattern-reader';

/** The bounds of a quantifier, if one comes next. Braces that hold no bounds are plain text. */
export function readQuantifier(reader: PatternReader): string | null {
  if ('*+?'.includes(reader.peek())) return reader.next();
  const back = reader.mark();
  if (!reader.skip('{') || reader.peek() === '}') {
    back();
    return null;
  }
  const least = reader.run(/[0-9]/);
  const most = reader.skip(',') ? reader.run(/[0-9]/) : least || null;
  if (most === null || !reader.skip('}')) {
    back();
    return null;
  }
  if (most !== '' && Number(most) < Number(least))
    throw reader.error('a repetition has its bounds the wrong way round');
  return `{${least || 0},${most}}`;
}
