import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import type { ContainerSpec, StoredDeployment, StoredPod } from './objects';

/** A machine of the cluster. */
export interface StandInNode {
  name: string;
  labels: Record<string, string>;
  gpus: number;
}

const GPU = 'nvidia.com/gpu';

/** Pods, each of which runs a process of this machine once it has a node and its image is there. */
export class Pods {
  readonly all = new Map<string, StoredPod>();
  private readonly processes = new Map<string, ChildProcess>();

  /**
   * @param commandLine of each worker; its environment is that of its container.
   * @param missingImages of these no pod runs.
   * @param changed called when a pod has changed by itself.
   */
  constructor(
    readonly nodes: StandInNode[],
    private readonly commandLine: readonly string[],
    private readonly missingImages: ReadonlySet<string>,
    private readonly changed: () => void,
  ) {}

  create({ metadata, spec }: StoredDeployment): void {
    const name = `${metadata.name}-${randomBytes(5).toString('hex')}-${randomBytes(3).toString('hex').slice(0, 5)}`;
    const { template } = spec;
    const pod: StoredPod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        uid: randomUUID(),
        generation: 1,
        labels: { ...template.metadata?.labels },
        annotations: {},
        ownerReferences: [{ kind: 'ReplicaSet', name: metadata.name, uid: metadata.uid }],
        creationTimestamp: new Date().toISOString(),
      },
      spec: structuredClone(template.spec),
      status: { phase: 'Pending', conditions: [], containerStatuses: [] },
    };
    this.all.set(name, pod);
    this.schedule(pod);
  }

  /** Give pods without a node another chance, as the scheduler does when nodes change. */
  scheduleAll(): void {
    for (const pod of this.all.values()) if (pod.spec.nodeName === undefined) this.schedule(pod);
  }

  /** Ask it to end; it is gone when it has. */
  remove(pod: StoredPod): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    pod.metadata.deletionTimestamp = new Date().toISOString();
    const child = this.processes.get(pod.metadata.name);
    if (child === undefined || !isRunning(child)) this.all.delete(pod.metadata.name);
    else child.kill('SIGTERM');
  }

  isRunning(name: string): boolean {
    const child = this.processes.get(name);
    return child !== undefined && isRunning(child);
  }

  /** End its process as a crash does. */
  crash(name: string): void {
    this.processes.get(name)?.kill('SIGKILL');
  }

  /** The engine beside its worker ends and is about to be started again, as one that hung: the pod is not ready meanwhile. */
  restartEngine(name: string): void {
    const pod = this.all.get(name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    pod.status.initContainerStatuses = [{ name: 'comfyui', state: { terminated: { exitCode: 137, reason: 'Error' } } }];
    // Kubernetes says it to the second, in which its worker may have begun.
    const lastTransitionTime = new Date(Date.now() + 1_000).toISOString();
    pod.status.conditions = pod.status.conditions.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
    );
  }

  /** Its node gives it up, as one that is taken back does: it has ended, and stays to be seen. */
  disrupt(name: string): void {
    const [pod, child] = [this.all.get(name), this.processes.get(name)];
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    this.processes.delete(name);
    child?.kill('SIGKILL');
    pod.status.phase = 'Failed';
    const message = 'Pod was terminated in response to imminent node shutdown.';
    pod.status.conditions = [{ type: 'DisruptionTarget', status: 'True', message }];
  }

  /** A machine goes with everything on it. Its pods are given up, and stay to be seen: nobody is there to say that they ended. */
  lose(node: string): void {
    this.nodes.splice(0, this.nodes.length, ...this.nodes.filter(({ name }) => name !== node));
    for (const pod of this.all.values()) {
      if (pod.spec.nodeName !== node) continue;
      pod.metadata.deletionTimestamp = new Date().toISOString();
      pod.status.reason = 'NodeLost';
      const child = this.processes.get(pod.metadata.name);
      this.processes.delete(pod.metadata.name);
      child?.kill('SIGKILL');
    }
  }

  async close(): Promise<void> {
    const children = [...this.processes.values()].filter(isRunning);
    this.processes.clear();
    const ends = children.map((child) => new Promise<void>((resolve) => child.once('exit', () => resolve())));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ends);
  }

  private schedule(pod: StoredPod): void {
    const gpus = gpusOf(pod);
    const selector = Object.entries(pod.spec.nodeSelector ?? {});
    const fitting = this.nodes.filter(({ labels }) => selector.every(([name, value]) => labels[name] === value));
    const node = fitting.find((one) => one.gpus - this.usedOf(one.name) >= gpus);
    if (node === undefined) {
      const count = this.nodes.length;
      const short = fitting.length > 0 ? `${fitting.length} Insufficient ${GPU}` : null;
      const other =
        count > fitting.length ? `${count - fitting.length} node(s) didn't match Pod's node selector` : null;
      const message = `0/${count} nodes are available: ${[short, other].filter(Boolean).join(', ')}. preemption: none.`;
      pod.status.conditions = [{ type: 'PodScheduled', status: 'False', message }];
      return;
    }
    pod.spec.nodeName = node.name;
    pod.status.conditions = [{ type: 'PodScheduled', status: 'True' }];
    this.run(pod);
  }

  private usedOf(node: string): number {
    return [...this.all.values()]
      .filter(({ spec }) => spec.nodeName === node)
      .reduce((sum, pod) => sum + gpusOf(pod), 0);
  }

  private run(pod: StoredPod): void {
    const container = workerOf(pod);
    const { name, image = '' } = container;
    if (this.missingImages.has(image)) {
      const message = `Back-off pulling image "${image}": not found`;
      pod.status.containerStatuses = [{ name, state: { waiting: { reason: 'ImagePullBackOff', message } } }];
      return;
    }
    const env = Object.fromEntries((container.env ?? []).map((one) => [one.name, one.value ?? '']));
    const [command = '', ...args] = this.commandLine;
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let written = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (written += text));
    this.processes.set(pod.metadata.name, child);
    pod.status.phase = 'Running';
    pod.status.conditions.push({ type: 'Ready', status: 'True' });
    pod.status.containerStatuses = [{ name, state: { running: { startedAt: new Date().toISOString() } } }];
    child.once('close', (code) => this.ended(pod, name, code, written));
  }

  /** A pod that was asked to go is gone; any other waits to be started again. */
  private ended(pod: StoredPod, name: string, code: number | null, message: string): void {
    if (!this.processes.delete(pod.metadata.name)) return;
    if (pod.metadata.deletionTimestamp !== undefined) this.all.delete(pod.metadata.name);
    else {
      const terminated = { exitCode: code ?? 137, reason: 'Error', message };
      const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } };
      pod.status.containerStatuses = [{ name, state, lastState: { terminated } }];
      pod.status.conditions = pod.status.conditions.filter(({ type }) => type !== 'Ready');
    }
    this.changed();
  }
}

function workerOf({ spec }: StoredPod): ContainerSpec {
  const [container] = spec.containers;
  if (container === undefined) throw new Error('a pod has no container');
  return container;
}

function gpusOf(pod: StoredPod): number {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  return containers.reduce((sum, { resources }) => sum + Number(resources?.limits?.[GPU] ?? 0), 0);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
