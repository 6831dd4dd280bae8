/** What is known of a node that was reached. */
interface Visit {
  id: string;
  targets: readonly string[];
  /** How many of its targets were followed. */
  followed: number;
  index: number;
  /** The lowest index of an open node that it reaches. */
  lowest: number;
  /** Its group is not complete. */
  isOpen: boolean;
}

/**
 * The strongly connected groups of a graph, each after the groups that it points at (R. Tarjan, "Depth-first search and
 * linear graph algorithms", 1972). Linear in nodes and links, and iterative: a chain may be as long as memory allows.
 */
export function stronglyConnected(ids: Iterable<string>, targets: (id: string) => readonly string[]): string[][] {
  const visits = new Map<string, Visit>();
  const open: Visit[] = [];
  const path: Visit[] = [];
  const groups: string[][] = [];

  const enter = (id: string): void => {
    const index = visits.size;
    const visit = { id, targets: targets(id), followed: 0, index, lowest: index, isOpen: true };
    visits.set(id, visit);
    open.push(visit);
    path.push(visit);
  };
  const follow = (from: Visit, to: string): void => {
    const visit = visits.get(to);
    if (visit === undefined) enter(to);
    else if (visit.isOpen) from.lowest = Math.min(from.lowest, visit.index);
  };
  const leave = (visit: Visit): void => {
    path.pop();
    const below = path.at(-1);
    if (below) below.lowest = Math.min(below.lowest, visit.lowest);
    if (visit.lowest !== visit.index) return;
    const group = open.splice(open.lastIndexOf(visit));
    for (const member of group) member.isOpen = false;
    groups.push(group.map((member) => member.id));
  };

  for (const root of ids) {
    if (!visits.has(root)) enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.targets[top.followed];
      top.followed += 1;
      if (next === undefined) leave(top);
      else follow(top, next);
    }
  }
  return groups;
}
