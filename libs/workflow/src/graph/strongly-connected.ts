/**
 * The strongly connected groups of a graph, each after the groups that it points at (R. Tarjan, "Depth-first search and
 * linear graph algorithms", 1972). Linear in nodes and links, and iterative: a chain may be as long as memory allows.
 */
export function stronglyConnected(ids: Iterable<string>, targets: (id: string) => readonly string[]): string[][] {
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const groups: string[][] = [];
  const path: { id: string; rest: Iterator<string> }[] = [];

  const enter = (id: string): void => {
    index.set(id, index.size);
    lowest.set(id, index.size - 1);
    open.push(id);
    isOpen.add(id);
    path.push({ id, rest: targets(id)[Symbol.iterator]() });
  };
  const lower = (id: string, to: number): void => void lowest.set(id, Math.min(lowest.get(id) ?? to, to));
  const close = (id: string): void => {
    if (lowest.get(id) !== index.get(id)) return;
    const group = open.splice(open.lastIndexOf(id));
    for (const member of group) isOpen.delete(member);
    groups.push(group);
  };

  for (const root of ids) {
    if (!index.has(root)) enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.next();
      if (next.done) {
        path.pop();
        close(top.id);
        const below = path.at(-1);
        if (below) lower(below.id, lowest.get(top.id) ?? 0);
      } else if (!index.has(next.value)) enter(next.value);
      else if (isOpen.has(next.value)) lower(top.id, index.get(next.value) ?? 0);
    }
  }
  return groups;
}
