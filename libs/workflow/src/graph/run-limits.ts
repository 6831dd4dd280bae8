import type { NodeCatalogue, RunLimits } from '@millrace/contracts';

const known = new WeakMap<NodeCatalogue, RunLimits>();

/** Have graphs for a catalogue judged by what its engine runs at once; null: by nothing beyond what any submission may be. */
export function limitRuns(catalogue: NodeCatalogue, limits: RunLimits | null): void {
  if (limits !== null) known.set(catalogue, limits);
}

/** What `limitRuns` said of a catalogue; null for one of which it said nothing. */
export function limitsOfRuns(catalogue: NodeCatalogue): RunLimits | null {
  return known.get(catalogue) ?? null;
}
