/** Longer names are no slips of the hand, and the search is quadratic in length. */
const MAX_LENGTH = 64;

/** The candidate that differs from `name` by the fewest single-character edits, ignoring case, if it differs by few. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_LENGTH) return null;
  const wanted = name.toLowerCase();
  let nearest: string | null = null;
  let best = Math.max(1, Math.floor(wanted.length / 4)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= best) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < best) [nearest, best] = [candidate, distance];
  }
  return nearest;
}

/** V. Levenshtein's distance, one row at a time (R. Wagner and M. Fischer, 1974). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
