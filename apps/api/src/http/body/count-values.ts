/**
 * How many values a JSON document holds, itself and all inside it. Ends when there are more than `most`. Without recursion: a
 * document of 60 KB may be 30,000 arrays deep.
 */
export function countValues(document: unknown, most: number): number {
  const pending = [document];
  let count = 0;
  while (pending.length > 0 && count <= most) {
    const value = pending.pop();
    count += 1;
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) pending.push(inner);
  }
  return count;
}
