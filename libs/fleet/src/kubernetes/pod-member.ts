import type { PlacedStart } from '@millrace/deployments';
import type { FleetMember, MachineSpace } from '../fleet';
import { lastSentence } from '../last-message';
import type { Container, ContainerStatus, PodObject, PodSpec } from './objects';

/** Waits in which a container has no image. */
const WITHOUT_IMAGE = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
];
const NOT_CREATED = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

/** What nodes may lack, by the words of the scheduler. */
const LACKS: readonly [RegExp, string][] = [
  [/Insufficient [\w.-]+\/[\w.-]*gpu/i, 'have the GPU'],
  [/Insufficient memory/, 'have the memory'],
  [/Insufficient cpu/, 'have the processors'],
  [/Insufficient ephemeral-storage/, 'have the disk'],
  [/node affinity|node selector/, 'are of the kind that the class names'],
  [/untolerated taint/, 'take workers of the class'],
];

/** What may keep nodes from a pod that another one of the same needs runs on: they are full, or were never meant. */
const FULL = /Insufficient/;
const NOT_MEANT = /Pod's node (affinity|selector)|untolerated taint/;

/** A pod as a member of its group. @param now when a pod counts as started whose containers do not run yet. */
export function memberOf(pod: PodObject, revision: string, now: Date): FleetMember {
  const { name = '' } = pod.metadata;
  const { phase, reason } = stateOf(pod);
  return {
    id: name,
    phase,
    reason,
    revision,
    startedAt: startOf(pod) ?? now,
    placed: placedOf(pod),
    room: { needs: needsOf(pod.spec), lackedSince: lackedSince(pod) },
    host: name,
    pid: null,
  };
}

/** Until a container runs, its class's time to start has not begun: nodes may have to come, and images. */
function startOf(pod: PodObject): Date | null {
  const starts = containersOf(pod).flatMap(({ state }) => state?.running?.startedAt ?? []);
  return starts.length === 0 ? null : new Date(starts.sort()[0] ?? 0);
}

/** What came before its worker: a node for it, and then its images. Kubernetes says it to the second. */
function placedOf(pod: PodObject): PlacedStart {
  const { metadata, status } = pod;
  const scheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'True');
  const running = status?.containerStatuses?.find(({ name }) => name === 'worker')?.state?.running;
  return {
    scheduleMs: between(metadata.creationTimestamp, scheduled?.lastTransitionTime),
    pullMs: between(scheduled?.lastTransitionTime, running?.startedAt),
  };
}

/** What decides on which nodes a pod fits. Of volumes only claims do: Kubernetes adds others with names of their own. */
function needsOf(spec: Partial<PodSpec> = {}): MachineSpace['needs'] {
  const { nodeSelector, tolerations, affinity, topologySpreadConstraints, runtimeClassName, priorityClassName } = spec;
  const claims = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim ?? []);
  const resources = (list: Container[] = []): object[] => list.map((container) => container.resources ?? {});
  return JSON.stringify([
    ...[nodeSelector, tolerations, affinity, topologySpreadConstraints, runtimeClassName, priorityClassName],
    ...[claims, resources(spec.initContainers), resources(spec.containers)],
  ]);
}

/** Since when full nodes are all that keeps a pod from one. */
function lackedSince({ metadata, status }: PodObject): MachineSpace['lackedSince'] {
  const scheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  const causes = scheduled?.message?.split(' nodes are available: ')[1]?.split('. ')[0]?.split(', ') ?? [];
  const since = scheduled?.lastTransitionTime ?? metadata.creationTimestamp;
  const isFull = causes.some((cause) => FULL.test(cause));
  if (!isFull || since === undefined) return null;
  return causes.every((cause) => FULL.test(cause) || NOT_MEANT.test(cause)) ? new Date(since) : null;
}

/** In milliseconds; null where one of the times is not known. */
function between(from: string | undefined, to: string | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.max(0, Date.parse(to) - Date.parse(from));
}

function containersOf({ status }: PodObject): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function stateOf(pod: PodObject): Pick<FleetMember, 'phase' | 'reason'> {
  const { status } = pod;
  if (pod.metadata.deletionTimestamp !== undefined) return { phase: 'stopping', reason: null };
  if (status?.reason === 'NodeLost' || status?.phase === 'Unknown')
    return { phase: 'lost', reason: 'its node is gone' };
  const containers = containersOf(pod);
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') {
    const disruption = disruptionOf(pod);
    if (disruption !== null) return { phase: 'lost', reason: disruption };
    const ended = containers.map(endOf).find((end) => end !== null);
    return { phase: 'failed', reason: evictionOf(pod) ?? ended ?? 'its worker ended' };
  }
  const crashes = containers.filter(hasCrashed);
  if (crashes[0] !== undefined) return crashedAs(pod, crashes[0], crashes);
  const waiting = containers.map(waitOf).find((wait) => wait !== null);
  if (waiting !== undefined) return { phase: 'starting', reason: waiting };
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') return { phase: 'starting', reason: unscheduled(scheduled.message ?? '') };
  return { phase: status?.phase === 'Running' ? 'running' : 'starting', reason: null };
}

/**
 * A worker that was ready outlives its engine, which is started again in place and warmed up: a new pod would load its models again.
 * One whose engine does not come back is overdue, and one whose engine keeps crashing has failed.
 */
function crashedAs(
  pod: PodObject,
  first: ContainerStatus,
  crashes: readonly ContainerStatus[],
): Pick<FleetMember, 'phase' | 'reason'> {
  const end = endOf(first) ?? 'its worker ended';
  const sidecars = pod.status?.initContainerStatuses ?? [];
  const goesOn = wasReady(pod) && crashes.every((one) => sidecars.includes(one) && !keepsCrashing(one));
  return goesOn
    ? { phase: 'running', reason: `${first.name} is started again: ${end}` }
    : { phase: 'failed', reason: end };
}

/**
 * It has crashed several times in a row: starting it again in place does not help, as where its GPU is broken. The kubelet doubles its pause
 * each time, from ten seconds to five minutes, and begins again once the container has run for ten minutes.
 *
 * Source: "Pod lifecycle: how Pods handle problems with containers" in Kubernetes' documentation, and the kubelet's message.
 */
function keepsCrashing({ state }: ContainerStatus): boolean {
  return /back-off (1m20s|2m40s|5m0s)/.test(state?.waiting?.message ?? '');
}

/**
 * Its worker has been ready since it began to run. A worker's engines are up and warm by then, while its container counts as started
 * before. The condition keeps the time of its last change: where it never was true, that is from before.
 */
function wasReady({ status }: PodObject): boolean {
  const worker = status?.containerStatuses?.find(({ name }) => name === 'worker');
  const startedAt = worker?.state?.running?.startedAt;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (startedAt === undefined || ready === undefined) return false;
  return ready.status === 'True' || Date.parse(ready.lastTransitionTime ?? '') > Date.parse(startedAt);
}

/**
 * Why the cluster took a pod away that was well: another pod needed the room, its node is drained, shut down or gone. A pod that used more
 * than it may has no such condition.
 *
 * Source: "Pod disruption conditions" in Kubernetes' documentation of disruptions.
 */
function disruptionOf({ status }: PodObject): string | null {
  const target = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True');
  if (target === undefined) return null;
  return `its node gave it up: ${target.message ?? target.reason ?? 'no reason given'}`;
}

function evictionOf({ status }: PodObject): string | null {
  if (status?.reason === undefined) return null;
  return `${status.reason}: ${status.message ?? 'its node gave it up'}`;
}

/** It has ended and is started again after a pause. A container that only prepares ends with 0. */
function hasCrashed({ state, lastState }: ContainerStatus): boolean {
  const { terminated, waiting } = state ?? {};
  if (terminated !== undefined) return terminated.exitCode !== 0;
  return waiting?.reason === 'CrashLoopBackOff' && lastState?.terminated !== undefined;
}

/** Why a container ended: by what it wrote last, where the pod keeps that as its message. */
function endOf({ state, lastState }: ContainerStatus): string | null {
  const end = state?.terminated ?? lastState?.terminated;
  if (end === undefined) return null;
  if (end.reason === 'OOMKilled') return 'it needs more memory than its class has';
  return lastSentence(end.message ?? '') ?? `it ended with code ${end.exitCode}`;
}

function waitOf({ state }: ContainerStatus): string | null {
  const { reason = '', message = reason } = state?.waiting ?? {};
  if (WITHOUT_IMAGE.includes(reason)) return `image cannot be pulled: ${message}`;
  return NOT_CREATED.includes(reason) ? `container cannot be created: ${message}` : null;
}

/** `0/3 nodes have the GPU`, from a sentence such as `0/3 nodes are available: 3 Insufficient nvidia.com/gpu.`. */
function unscheduled(message: string): string {
  const nodes = /^(\d+\/\d+) nodes/.exec(message)?.[1];
  if (nodes === undefined) return message === '' ? 'no node has room' : message;
  const lacks = LACKS.filter(([words]) => words.test(message)).map(([, what]) => what);
  return `${nodes} nodes ${lacks[0] ?? `are available: ${message}`}`;
}
