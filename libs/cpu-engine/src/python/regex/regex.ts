import { checkTextLength } from '../../node-api/text-length';
import { RegexUnsupported } from './regex-error';
import type { PatternFlags } from './pattern-flags';
import { translatePattern, type TranslatedPattern } from './pattern-translator';
import { readTemplate } from './template';

/** One match: the text of every group, the whole first; undefined where a group took no part. */
export type Match = (string | undefined)[];

/** A Python regular expression. See `translatePattern` for where it differs. */
export class PythonRegex {
  private readonly pattern: TranslatedPattern;
  private readonly regex: RegExp;

  /** @throws {RegexSyntaxError} {RegexUnsupported} as `translatePattern`. */
  constructor(pattern: string, flags: PatternFlags) {
    this.pattern = translatePattern(pattern, flags);
    this.regex = compiled(this.pattern);
  }

  get groupCount(): number {
    return this.pattern.groupCount;
  }

  /** `re.search`. */
  search(text: string): Match | null {
    for (const match of this.matches(text)) return this.groupsOf(match);
    return null;
  }

  /** `re.finditer`, save that after an empty match it does not look for a longer one at the same place. */
  *searchAll(text: string): Generator<Match> {
    for (const match of this.matches(text)) yield this.groupsOf(match);
  }

  /**
   * `re.sub`; a count of 0 replaces every match.
   *
   * @throws {RegexSyntaxError} when the replacement is not one.
   * @throws {NodeFault} when the result grows too long.
   */
  replace(text: string, replacement: string, count: number): string {
    const template = readTemplate(replacement, this.groupCount, this.pattern.names);
    const parts: string[] = [];
    let at = 0;
    let replaced = 0;
    let units = text.length;
    for (const match of this.matches(text)) {
      const groups = this.groupsOf(match);
      const inserted = template.map((part) => (typeof part === 'string' ? part : (groups[part] ?? ''))).join('');
      checkTextLength((units += inserted.length - match[0].length));
      parts.push(text.slice(at, match.index), inserted);
      at = match.index + match[0].length;
      replaced += 1;
      if (replaced === count) break;
    }
    return parts.join('') + text.slice(at);
  }

  private matches(text: string): IterableIterator<RegExpMatchArray & { index: number }> {
    return text.matchAll(this.regex) as IterableIterator<RegExpMatchArray & { index: number }>;
  }

  private groupsOf(match: RegExpMatchArray): Match {
    return [match[0], ...Array.from({ length: this.groupCount }, (_, i) => match.groups?.[`g${i + 1}`])];
  }
}

function compiled({ source, ignoreCase }: TranslatedPattern): RegExp {
  try {
    return new RegExp(source, ignoreCase ? 'giv' : 'gv');
  } catch {
    // Too large a repetition, or too many groups.
    throw new RegexUnsupported('The pattern is too large to be compiled; make it shorter.');
  }
}
