import type { Job, JobNodes } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import type { GraphNode } from './graph';
import type { SeenNodes } from './seen-nodes';

/** How far a node came. `skipped`: the job ended before it. */
export interface NodeState {
  state: 'waiting' | 'running' | 'done' | 'cached' | 'failed' | 'skipped';
  /** Milliseconds that it took, or takes so far; null when that is not known. */
  ms: number | null;
  /** Of the running node: steps done and all steps, where the engine counts them. */
  steps: { done: number; all: number } | null;
}

/**
 * The state of each node. An ended attempt has the times of its nodes. A running one says only which node is the current one:
 * what that node depends on has ended, and so has what this page saw pass and what has an output.
 */
export function nodeStates(
  nodes: readonly GraphNode[],
  job: Pick<Job, 'status' | 'progress' | 'outputs' | 'error'>,
  timings: JobNodes['nodes'],
  seen: SeenNodes,
): Map<string, NodeState> {
  return isEnded(job.status) ? endedStates(nodes, job, timings) : liveStates(nodes, job, seen);
}

function endedStates(
  nodes: readonly GraphNode[],
  job: Pick<Job, 'status' | 'error'>,
  timings: JobNodes['nodes'],
): Map<string, NodeState> {
  const times = new Map(timings.map((timing) => [timing.node_id, timing]));
  return new Map(
    nodes.map(({ id }): [string, NodeState] => {
      const timing = times.get(id);
      const ms = timing?.ms ?? null;
      if (job.error?.node_id === id || timing?.state === 'failed') return [id, { state: 'failed', ms, steps: null }];
      if (timing === undefined || timing.state === 'running') return [id, { state: 'skipped', ms, steps: null }];
      return [id, { state: timing.state, ms, steps: null }];
    }),
  );
}

function liveStates(
  nodes: readonly GraphNode[],
  { progress, outputs }: Pick<Job, 'progress' | 'outputs'>,
  seen: SeenNodes,
): Map<string, NodeState> {
  const current = progress?.current_node ?? null;
  const done = new Set(outputs.map((output) => output.node_id));
  for (const [id, { toMs }] of seen) if (toMs !== null) done.add(id);
  if (current !== null) for (const id of ancestorsOf(nodes, current)) done.add(id);
  return new Map(
    nodes.map(({ id }): [string, NodeState] => {
      const { fromMs, toMs } = seen.get(id) ?? { fromMs: null, toMs: null };
      if (id === current) {
        const { step = null, steps = null } = progress ?? {};
        const counted = step === null || steps === null ? null : { done: step, all: steps };
        return [id, { state: 'running', ms: fromMs === null ? null : Date.now() - fromMs, steps: counted }];
      }
      const ms = fromMs === null || toMs === null ? null : toMs - fromMs;
      return [id, { state: done.has(id) ? 'done' : 'waiting', ms, steps: null }];
    }),
  );
}

function ancestorsOf(nodes: readonly GraphNode[], id: string): Set<string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { link } of byId.get(next)?.inputs ?? []) {
      if (link === null || found.has(link.nodeId)) continue;
      found.add(link.nodeId);
      open.push(link.nodeId);
    }
  }
  return found;
}
