import { createHash } from 'node:crypto';
import type { Fleet, Group, GroupOrder, FleetMember, MemberPhase } from '../fleet';
import { KubernetesApi, type ClusterAccess } from './api';
import { Cluster } from './cluster';
import type { DeploymentObject, PodObject } from './objects';
import { OrderPauses } from './order-pauses';
import { memberOf } from './pod-member';
import {
  FLEET_LABEL,
  POOL_LABEL,
  REVISION_LABEL,
  poolDeployment,
  revisionOf,
  type FleetIdentity,
  type PoolTemplates,
} from './pool-deployment';
import { hasBegun, isActive, wouldGo } from './victims';

/** What the workers of a cluster are made with. */
export interface KubernetesWorkers {
  access: ClusterAccess;
  namespace: string;
  /** Name of the fleet process's own Deployment: its workers carry it in a label, and go with it. */
  ownDeployment: string;
  gpuResource: string;
  templates: PoolTemplates;
}

/** Phases of pods in whose place another one is started. */
const GONE: readonly MemberPhase[] = ['failed', 'lost'];

/** What was applied last, and which generation of the Deployment that was: another one has been changed by somebody else. */
interface Applied {
  digest: string;
  generation: number | undefined;
}

/**
 * Workers as pods of a cluster: one Deployment for each pool and revision, made smaller by our own choice of pods. It goes on when
 * this process ends.
 */
export class KubernetesFleet implements Fleet {
  readonly name = 'kubernetes';
  private readonly api: KubernetesApi;
  private readonly cluster: Cluster;
  private readonly pauses = new OrderPauses();
  private readonly applied = new Map<string, Applied>();
  private identity: FleetIdentity | null = null;
  /** As they were last observed, and by name. */
  private deployments = new Map<string, DeploymentObject>();
  private pods: PodObject[] = [];

  constructor(private readonly workers: KubernetesWorkers) {
    this.api = new KubernetesApi(workers.access);
    this.cluster = new Cluster(this.api, workers.namespace, `${FLEET_LABEL}=${workers.ownDeployment}`);
  }

  async observe(): Promise<Group[]> {
    const [deployments, pods] = await Promise.all([this.cluster.listDeployments(), this.cluster.listPods()]);
    this.deployments = new Map(deployments.map((one) => [one.metadata.name ?? '', one]));
    this.pods = pods;
    const now = new Date();
    const groups = new Map<string, FleetMember[]>();
    const add = (object: DeploymentObject | PodObject, members: FleetMember[]): void => {
      const poolId = object.metadata.labels?.[POOL_LABEL] ?? '';
      groups.set(poolId, [...(groups.get(poolId) ?? []), ...members]);
    };
    for (const deployment of deployments) add(deployment, this.missingOf(deployment, now));
    for (const pod of pods) add(pod, [memberOf(pod, this.shownRevision(pod), now)]);
    return [...groups].map(([poolId, members]) => ({ poolId, members }));
  }

  async apply(order: GroupOrder): Promise<void> {
    await this.pauses.place(order.poolId, () => this.place(order));
  }

  async dissolve(poolId: string): Promise<void> {
    await this.pauses.place(poolId, async () => {
      for (const [name, deployment] of this.deployments) {
        if (deployment.metadata.labels?.[POOL_LABEL] === poolId) await this.remove(name, deployment);
      }
    });
  }

  async resign(): Promise<void> {
    // The cluster goes on as it is.
  }

  close(): void {
    this.api.close();
  }

  private async place({ poolId, engineClass, size, leaving }: GroupOrder): Promise<void> {
    const template = this.workers.templates[engineClass.engine];
    const pods = this.pods.filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === poolId);
    for (const pod of pods) {
      // It has ended, and its ReplicaSet has made another one in its place.
      if (!isActive(pod) && pod.metadata.deletionTimestamp === undefined) await this.cluster.deletePod(pod);
    }
    const goes = (pod: PodObject): boolean =>
      leaving.includes(pod.metadata.name ?? '') || GONE.includes(memberOf(pod, '', new Date()).phase);
    const active = pods.filter(isActive);
    const activeOf = (revision?: string): PodObject[] =>
      active.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] === revision);
    const revision = revisionOf(engineClass, template);
    let missing = size;
    for (const [name, deployment] of this.deployments) {
      const { labels } = deployment.metadata;
      const its = labels?.[REVISION_LABEL];
      if (labels?.[POOL_LABEL] !== poolId || its === revision) continue;
      const { staying, replicas } = await this.letGo(activeOf(its), goes, 0);
      missing -= staying;
      if (replicas === 0) await this.remove(name, deployment);
      else if (deployment.spec.replicas !== replicas) await this.cluster.scale(name, replicas);
    }
    const { replicas } = await this.letGo(activeOf(revision), goes, missing);
    await this.ensure(poolDeployment(template, { poolId, engineClass, replicas }, await this.identify()));
  }

  /**
   * See that of these pods just those go. Where others are started in their place, they are deleted by name. Where there are to be
   * fewer, they get the deletion cost of leaving, and the ReplicaSet chooses them when it is made smaller. It chooses pods without a node
   * or an image before them, which may wait for their very room: they are deleted by name too then, and only pods that run nothing come
   * and go until there are as many as are to stay. Where it would choose a worker that stays, because that is not ready at this moment,
   * nothing goes: the next order tries again.
   *
   * @param wanted pods; those that stay are not stopped where it is less.
   * @returns how many stay, and how many the Deployment is to have from now on.
   */
  private async letGo(
    active: PodObject[],
    goes: (pod: PodObject) => boolean,
    wanted: number,
  ): Promise<{ staying: number; replicas: number }> {
    const going = active.filter(goes);
    const staying = active.length - going.length;
    if (wanted > staying) {
      for (const pod of going) await this.cluster.deletePod(pod);
      return { staying, replicas: wanted };
    }
    const begun = active.filter((pod) => going.includes(pod) || hasBegun(pod));
    if (!wouldGo(begun, going)) return { staying, replicas: active.length };
    for (const pod of going) await this.cluster.markLeaving(pod);
    if (!wouldGo(active, going)) for (const pod of going) await this.cluster.deletePod(pod);
    return { staying, replicas: staying };
  }

  /** Apply it unless it is as it was applied last. */
  private async ensure(deployment: DeploymentObject): Promise<void> {
    const name = deployment.metadata.name ?? '';
    const digest = createHash('sha256').update(JSON.stringify(deployment)).digest('hex');
    const [applied, found] = [this.applied.get(name), this.deployments.get(name)];
    const untouched = found !== undefined && found.metadata.generation === applied?.generation;
    if (untouched && applied?.digest === digest) return;
    const made = await this.cluster.apply(deployment);
    this.applied.set(name, { digest, generation: made.metadata.generation });
    this.deployments.set(name, made);
  }

  private async remove(name: string, deployment: DeploymentObject): Promise<void> {
    await this.cluster.deleteDeployment(deployment);
    this.deployments.delete(name);
    this.applied.delete(name);
  }

  private async identify(): Promise<FleetIdentity> {
    const { ownDeployment: fleet, namespace, gpuResource } = this.workers;
    this.identity ??= { fleet, namespace, gpuResource, owner: await this.cluster.ownerOf(fleet) };
    return this.identity;
  }

  /** Pods that a Deployment is not allowed to make, as a quota says or an admission controller: they would be seen nowhere. */
  private missingOf({ metadata, spec, status }: DeploymentObject, startedAt: Date): FleetMember[] {
    const refusal = status?.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
    if (refusal === undefined) return [];
    const [name = '', label] = [metadata.name, metadata.labels?.[REVISION_LABEL]];
    const there = this.pods.filter((pod) => isActive(pod) && pod.metadata.labels?.[REVISION_LABEL] === label).length;
    const reason = `its pod is refused: ${refusal.message ?? refusal.reason ?? 'no reason given'}`;
    const revision = this.shownRevision({ metadata });
    return Array.from({ length: Math.max(0, (spec.replicas ?? 0) - there) }, (_, index) => {
      const id = `${name}/missing-${index}`;
      return { id, phase: 'starting', reason, revision, startedAt, host: id, pid: null };
    });
  }

  /** That of its class, where its template is the one of today. */
  private shownRevision({ metadata }: Pick<PodObject, 'metadata'>): string {
    const label = metadata.labels?.[REVISION_LABEL] ?? '';
    const [classRevision = '', template] = label.split('-');
    const isOfToday = Object.values(this.workers.templates).some(({ digest }) => digest === template);
    return isOfToday ? classRevision : label;
  }
}
