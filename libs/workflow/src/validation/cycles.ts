import { shown, WHOLE_GRAPH } from './faults';
import type { Inspection } from './inspection';
import { type NodeLink, stronglyConnected } from '../graph';

/** Nodes named in the message of a cycle; the message of each node of a long cycle would otherwise name them all. */
const SHOWN_PATH = 10;

/** The link by which a node of a cycle depends on another of the same cycle. */
type Step = Pick<NodeLink, 'input' | 'nodeId'>;

/** Reports what is wrong with how nodes hang together: cycles, or if there are none a row of more than `maxDepth`. */
export function reportShapeOfGraph(ids: ReadonlySet<string>, maxDepth: number, inspection: Inspection): void {
  const { links } = inspection;
  const groups = stronglyConnected(ids, (id) => links.targets(id, 'every'));
  if (!reportCycles(groups, inspection)) reportDepth(groups.flat(), maxDepth, inspection);
}

/** Reports every node that depends on itself, and how. Returns whether there are any. */
function reportCycles(groups: string[][], { links, faults }: Inspection): boolean {
  const steps = new Map<string, Step>();
  for (const group of groups) {
    const [first = ''] = group;
    if (group.length === 1 && !links.targets(first, 'every').includes(first)) continue;
    const inGroup = new Set(group);
    for (const id of group) {
      const step = links.of(id).find(({ nodeId }) => inGroup.has(nodeId));
      if (step) steps.set(id, step);
    }
  }
  for (const [id, { input }] of steps) {
    const message = `The node depends on itself: ${pathFrom(id, steps)}. Remove one of these links.`;
    faults.add(id, input, 'dependency_cycle', message);
  }
  return steps.size > 0;
}

/** Along the links of the cycle until a node comes again, or as far as a message should go. */
function pathFrom(start: string, steps: ReadonlyMap<string, Step>): string {
  const path = [start];
  for (let id = steps.get(start)?.nodeId; id !== undefined; id = steps.get(id)?.nodeId) {
    const closes = path.includes(id);
    path.push(id);
    if (closes) return shownPath(path);
    if (path.length === SHOWN_PATH) break;
  }
  return `${shownPath(path)} → …`;
}

function reportDepth(order: string[], maxDepth: number, { links, faults }: Inspection): void {
  const depths = new Map<string, number>();
  let deepest = 0;
  for (const id of order) {
    let depth = 1;
    for (const target of links.targets(id, 'every')) depth = Math.max(depth, 1 + (depths.get(target) ?? 0));
    depths.set(id, depth);
    deepest = Math.max(deepest, depth);
  }
  if (deepest <= maxDepth) return;
  const message = `The workflow has ${deepest} nodes in a row, each depending on the next; at most ${maxDepth} are accepted. Split it into several jobs.`;
  faults.add(WHOLE_GRAPH, '', 'above_max', message);
}

function shownPath(path: string[]): string {
  return path.map((id) => shown(id)).join(' → ');
}
