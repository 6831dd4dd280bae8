import type { PodObject } from './objects';

/** By it a ReplicaSet chooses among pods that are otherwise alike: the lowest goes first, and 0 is what others have. */
export const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
export const COST_OF_LEAVING = '-1000';

const isReady = ({ status }: PodObject): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
const PHASES = ['Pending', 'Unknown', 'Running'];

/** A ReplicaSet counts these: it makes another one in the place of all others. */
export function isActive({ metadata, status }: PodObject): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
}

const phaseOf = ({ status }: PodObject): string => status?.phase ?? 'Pending';

/** Whether anything can run in it: not before it has a node and images there. */
export function hasBegun(pod: PodObject): boolean {
  return phaseOf(pod) !== 'Pending';
}

/**
 * Whether a ReplicaSet that is made smaller by as many pods as are leaving would choose just these, once they have the deletion
 * cost of leaving. It takes pods without a node first, then those that do not run, then those that are not ready, and only then
 * looks at the cost; so a busy worker whose pod is not ready at this moment would go before an idle one that is.
 *
 * Source of the order: `ActivePodsWithRanks` in pkg/controller/controller_utils.go of Kubernetes.
 */
export function wouldGo(active: readonly PodObject[], leaving: readonly PodObject[]): boolean {
  const rank = (pod: PodObject): number => {
    if (pod.spec?.nodeName === undefined) return 0;
    const phase = PHASES.indexOf(phaseOf(pod));
    return phase < 2 ? 1 + phase : isReady(pod) ? 4 : 3;
  };
  const staying = active.filter((pod) => !leaving.includes(pod));
  const firstToStay = Math.min(...staying.map(rank), Number.POSITIVE_INFINITY);
  return leaving.every((pod) => rank(pod) <= firstToStay);
}
