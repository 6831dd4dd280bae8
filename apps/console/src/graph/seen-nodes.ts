/** When a page saw each node begin and end: progress names only the current one. */
export type SeenNodes = ReadonlyMap<string, { fromMs: number; toMs: number | null }>;

/** What was seen, and that this node runs now: the one before it has ended. */
export function sawNode(seen: SeenNodes, current: string, nowMs: number): SeenNodes {
  const known = seen.get(current);
  if (known !== undefined && known.toMs === null) return seen;
  const next = new Map(seen);
  for (const [id, { fromMs, toMs }] of seen) if (toMs === null) next.set(id, { fromMs, toMs: nowMs });
  if (known === undefined) next.set(current, { fromMs: nowMs, toMs: null });
  return next;
}
