/** Longer names are no slips of the hand, and comparing two takes the square of their length. */
const MAX_LENGTH = 64;

/** What a search may do; it is counted down. */
export interface SearchBudget {
  /** Pairs of characters that may still be compared. */
  pairs: number;
}

interface Candidate {
  name: string;
  lower: string;
}

/** Names among which the nearest to a mistyped one is looked for, often and by strangers: no search passes its budget. */
export class NameIndex {
  private readonly byLength = new Map<number, Candidate[]>();

  constructor(names: Iterable<string>) {
    for (const name of names) {
      const lower = name.toLowerCase();
      const alike = this.byLength.get(lower.length);
      if (alike) alike.push({ name, lower });
      else this.byLength.set(lower.length, [{ name, lower }]);
    }
  }

  /**
   * The name that differs by the fewest single-character edits, ignoring case, if it differs by few; null where none does,
   * or the budget is spent before that is known.
   */
  nearest(name: string, budget: SearchBudget): string | null {
    if (name.length > MAX_LENGTH) return null;
    const wanted = name.toLowerCase();
    let nearest: string | null = null;
    let most = Math.max(1, Math.floor(wanted.length / 4));
    // Names of another length differ by as much at least: they come later, and most of them never.
    for (let apart = 0; apart <= most; apart += 1) {
      for (const candidate of this.ofLengths(wanted.length, apart)) {
        if (budget.pairs <= 0) return null;
        const distance = editDistance(wanted, candidate.lower, most, budget);
        if (distance > most) continue;
        nearest = candidate.name;
        most = distance - 1;
      }
    }
    return nearest;
  }

  private *ofLengths(length: number, apart: number): Iterable<Candidate> {
    yield* this.byLength.get(length - apart) ?? [];
    if (apart > 0) yield* this.byLength.get(length + apart) ?? [];
  }
}

/** Of the table, one character's and the one's before it; as long as two names that are compared can need. */
const ROWS = [new Uint8Array(2 * MAX_LENGTH), new Uint8Array(2 * MAX_LENGTH)] as const;

/**
 * V. Levenshtein's distance, or more than `most` where it is more. One row at a time, of each the part that can lie on a way of
 * at most so many edits, until no such way is left (E. Ukkonen, Algorithms for approximate string matching, 1985).
 */
function editDistance(from: string, to: string, most: number, budget: SearchBudget): number {
  const beyond = most + 1;
  let [row, next]: readonly [Uint8Array, Uint8Array] = ROWS;
  for (let column = 0; column <= to.length; column += 1) row[column] = Math.min(column, beyond);
  for (let line = 1; line <= from.length; line += 1) {
    const first = Math.max(1, line - most);
    const last = Math.min(to.length, line + most);
    const code = from.charCodeAt(line - 1);
    let left = first === 1 ? Math.min(line, beyond) : beyond;
    let least = left;
    next[first - 1] = left;
    for (let column = first; column <= last; column += 1) {
      const replaced = (row[column - 1] as number) + (code === to.charCodeAt(column - 1) ? 0 : 1);
      left = Math.min(replaced, (row[column] as number) + 1, left + 1);
      next[column] = left;
      least = Math.min(least, left);
    }
    next[last + 1] = beyond;
    budget.pairs -= last - first + 1;
    if (least > most) return beyond;
    [row, next] = [next, row];
  }
  return row[to.length] as number;
}
