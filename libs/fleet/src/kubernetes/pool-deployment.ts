import { createHash } from 'node:crypto';
import type { EngineClass } from '@millrace/deployments';
import { withHeapFor } from './heap';
import type { Container, DeploymentObject, OwnerReference } from './objects';

export const FLEET_LABEL = 'millrace/fleet';
export const POOL_LABEL = 'millrace/pool';
export const REVISION_LABEL = 'millrace/class-revision';
const CLASS_LABEL = 'millrace/engine-class';
/** What the network policies of the chart let out of the cluster. */
const INTERNET_LABEL = 'millrace/internet';
/** Room for what Kubernetes adds to the names of pods, which are host names of 63 characters at most. */
const LONGEST_NAME = 46;
/** Of `poolDeployment`: another one where it makes other pods of the same template, so that these are another revision. */
const MAKER = 2;

/** What the Deployments of a fleet have in common. */
export interface FleetIdentity {
  /** In the label by which they are found. */
  fleet: string;
  namespace: string;
  /** Gone with the owner: Kubernetes collects them. */
  owner: OwnerReference | null;
  /** Name of the resource that is a GPU. */
  gpuResource: string;
}

/** The Deployment from which those of pools are made, with a digest that another one does not have. */
export interface PoolTemplate {
  deployment: DeploymentObject;
  digest: string;
}

/** The templates of a cluster, by engine. */
export type PoolTemplates = Record<EngineClass['engine'], PoolTemplate>;

/** @throws Error when it is not a Deployment with a container of the name `worker`. */
export function poolTemplate(object: unknown): PoolTemplate {
  const deployment = object as Partial<DeploymentObject> | null;
  const containers = deployment?.spec?.template.spec.containers ?? [];
  if (deployment?.kind !== 'Deployment' || containers.every(({ name }) => name !== 'worker')) {
    throw new Error('it is not a Deployment with a container of the name worker');
  }
  return { deployment: deployment as DeploymentObject, digest: digest(JSON.stringify([MAKER, deployment]), 8) };
}

/**
 * The revision of workers: of their class, and of the template that the chart has rendered. Another image of the chart or another
 * class is another revision, so that the plan replaces workers one by one and Kubernetes never does.
 */
export function revisionOf(engineClass: EngineClass, template: PoolTemplate): string {
  return `${engineClass.revision}-${template.digest}`;
}

/** The Deployment of the workers of one pool and one revision. */
export function poolDeployment(
  template: PoolTemplate,
  { poolId, engineClass, replicas }: { poolId: string; engineClass: EngineClass; replicas: number },
  { fleet, namespace, owner, gpuResource }: FleetIdentity,
): DeploymentObject {
  const made = structuredClone(template.deployment);
  const revision = revisionOf(engineClass, template);
  const own = { [FLEET_LABEL]: fleet, [POOL_LABEL]: poolId, [REVISION_LABEL]: revision };
  const { metadata, spec: pod } = made.spec.template;
  const reaches: Record<string, string> = engineClass.reach.length > 0 ? { [INTERNET_LABEL]: 'allowed' } : {};
  const labels = { ...own, [CLASS_LABEL]: engineClass.name };
  const engine = engineOf(made, engineClass);
  if (engineClass.image !== null) engine.image = engineClass.image;
  engine.resources = resourcesOf(engine, engineClass, gpuResource);
  const settings = { ...engineClass.settings, MILLRACE_POOL: poolId, MILLRACE_ENGINE: engineClass.engine };
  const worker = workerOf(made);
  const heap = engine === worker ? heapOf(worker, engineClass) : {};
  worker.env = withValues(worker.env ?? [], { ...heap, ...settings });
  // What a container wrote last is then in its status, so that nobody needs to read logs to say why it ended.
  for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
    container.terminationMessagePolicy = 'FallbackToLogsOnError';
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...made.metadata,
      name: nameOf(template, poolId, revision),
      namespace,
      labels: { ...made.metadata.labels, ...labels },
      ...(owner === null ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      ...made.spec,
      replicas,
      selector: { matchLabels: own },
      template: {
        metadata: { ...metadata, labels: { ...metadata?.labels, ...labels, ...reaches } },
        spec: {
          ...pod,
          nodeSelector: { ...pod.nodeSelector, ...engineClass.nodeSelector },
          tolerations: [...(pod.tolerations ?? []), ...engineClass.tolerations],
        },
      },
    },
  };
}

/** The same pool and revision has the same name, so that an order that is repeated makes nothing twice. */
function nameOf({ deployment: { metadata } }: PoolTemplate, poolId: string, revision: string): string {
  const suffix = digest(`${poolId}/${revision}`, 12);
  return `${(metadata.name ?? 'worker').slice(0, LONGEST_NAME - suffix.length - 1).replace(/-+$/, '')}-${suffix}`;
}

/** The container in which the engine runs: one of the engine's name beside the worker, or the worker itself. */
function engineOf(made: DeploymentObject, { engine }: EngineClass): Container {
  const { initContainers = [], containers } = made.spec.template.spec;
  return [...initContainers, ...containers].find(({ name }) => name === engine) ?? workerOf(made);
}

function workerOf({ spec }: DeploymentObject): Container {
  const found = spec.template.spec.containers.find(({ name }) => name === 'worker');
  if (found === undefined) throw new Error('the template has no container of the name worker');
  return found;
}

function resourcesOf(
  { resources }: Container,
  { gpu, memory }: EngineClass,
  gpuResource: string,
): Container['resources'] {
  const gpus: Record<string, number> = gpu === null ? {} : { [gpuResource]: gpu.count };
  const room: Record<string, string> = memory === null ? {} : { memory };
  return {
    limits: { ...resources?.limits, ...gpus, ...room },
    requests: { ...resources?.requests, ...room },
  };
}

/** The template's heap is that of the template's memory: above the limit of the class, the kernel would end the worker instead. */
function heapOf({ env = [] }: Container, { memory }: EngineClass): Record<string, string> {
  if (memory === null) return {};
  const { value = '' } = env.findLast(({ name }) => name === 'NODE_OPTIONS') ?? {};
  return { NODE_OPTIONS: withHeapFor(memory, value) };
}

function withValues(env: NonNullable<Container['env']>, values: Record<string, string>): Container['env'] {
  const others = env.filter(({ name }) => values[name] === undefined);
  return [...others, ...Object.entries(values).map(([name, value]) => ({ name, value }))];
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
