import { hasLabels, type StoredDeployment, type StoredPod } from './objects';
import type { Pods } from './pods';

const COST = 'controller.kubernetes.io/pod-deletion-cost';

/**
 * What the controllers of a cluster do after every change: as many pods as a Deployment has replicas, and none of a Deployment that
 * is gone.
 *
 * @param quota pods that may be at most.
 */
export function control(deployments: Map<string, StoredDeployment>, pods: Pods, quota: number): void {
  collect(deployments, pods);
  for (const deployment of deployments.values()) {
    const own = [...pods.all.values()].filter(({ metadata }) =>
      hasLabels(metadata, deployment.spec.selector.matchLabels),
    );
    const active = own.filter(isActive);
    for (const victim of [...active].sort(byRank).slice(0, Math.max(0, active.length - deployment.spec.replicas))) {
      pods.remove(victim);
    }
    let missing = deployment.spec.replicas - active.length;
    for (; missing > 0 && pods.all.size < quota; missing -= 1) pods.create(deployment);
    const message = `pods "${deployment.metadata.name}" is forbidden: exceeded quota`;
    deployment.status.conditions = missing > 0 ? [{ type: 'ReplicaFailure', status: 'True', message }] : [];
  }
}

/** The garbage collector. */
function collect(deployments: Map<string, StoredDeployment>, pods: Pods): void {
  const uids = (): Set<string> => new Set([...deployments.values()].map(({ metadata }) => metadata.uid));
  for (const [name, { metadata }] of deployments) {
    if (metadata.ownerReferences.some(({ uid }) => !uids().has(uid))) deployments.delete(name);
  }
  for (const pod of pods.all.values()) {
    if (pod.metadata.ownerReferences.some(({ uid }) => !uids().has(uid))) pods.remove(pod);
  }
}

function isActive({ metadata, status }: StoredPod): boolean {
  return metadata.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(status.phase);
}

/** The order in which a ReplicaSet gives up pods: without a node, not running, not ready, low cost, young. */
function byRank(a: StoredPod, b: StoredPod): number {
  const rank = (pod: StoredPod): number[] => [
    pod.spec.nodeName === undefined ? 0 : 1,
    pod.status.phase === 'Running' ? 1 : 0,
    pod.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ? 1 : 0,
    Number(pod.metadata.annotations[COST] ?? 0),
    -Date.parse(pod.metadata.creationTimestamp),
  ];
  const [first, second] = [rank(a), rank(b)];
  const at = first.findIndex((value, index) => value !== second[index]);
  return at < 0 ? 0 : (first[at] ?? 0) - (second[at] ?? 0);
}
