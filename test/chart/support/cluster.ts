import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART, ciFile, helm, type Manifest } from './helm';

const NAMESPACE = 'apps';

/** The kinds that a release may have here, by the group and version that serve them. */
const KINDS: Record<string, string[]> = {
  v1: ['ConfigMap', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['Job'],
  'keda.sh/v1alpha1': ['ScaledObject'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
};

const pluralOf = (kind: string): string => kind.toLowerCase().replace(/y$/, 'ie').replace(/ss$/, 'sse') + 's';

/**
 * A Kubernetes API that keeps what it is given and does nothing with it: enough for Helm to install, upgrade and remove a
 * release, and to look up what is there.
 */
export class Cluster {
  /** By path. */
  private readonly objects = new Map<string, Manifest>();

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
  ) {}

  static async open(): Promise<Cluster> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cluster = new Cluster(server, await mkdtemp(join(tmpdir(), 'millrace-chart-')));
    server.on('request', (request, response) => void cluster.serve(request, response));
    const { port } = server.address() as AddressInfo;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      users: [{ name: 'test', user: {} }],
      'current-context': 'test',
    };
    await writeFile(cluster.config, JSON.stringify(config), { mode: 0o600 });
    return cluster;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await rm(this.folder, { recursive: true });
  }

  /** Bring the release `rel` to the chart with a value set, with `over` over it, from any state. @throws with Helm's sentence. */
  async upgrade(set: string, over: object = {}): Promise<void> {
    const values = ['--values', ciFile(set), '--values', '-'];
    const args = ['upgrade', 'rel', CHART, '--install', '--disable-openapi-validation', '--no-hooks', ...values];
    await this.run(args, over);
  }

  async uninstall(): Promise<void> {
    await this.run(['uninstall', 'rel', '--no-hooks']);
  }

  /** All objects of a kind, without what Helm keeps for itself. */
  list(kind: string): Manifest[] {
    return [...this.objects.values()].filter((one) => one.kind === kind && one.metadata.labels?.owner !== 'helm');
  }

  /** Take a field of a Secret away. */
  forget(name: string, field: string): void {
    const secret = this.objects.get(`/api/v1/namespaces/${NAMESPACE}/secrets/${name}`);
    if (secret === undefined) throw new Error(`there is no Secret ${name}`);
    delete (secret.data as Record<string, string>)[field];
  }

  /** Pods of a Deployment; one without a number has 1. */
  replicasOf(name: string): number {
    return (this.deployment(name).spec as { replicas?: number }).replicas ?? 1;
  }

  /** Change that number, as an autoscaler does. */
  scale(name: string, replicas: number): void {
    (this.deployment(name).spec as { replicas?: number }).replicas = replicas;
  }

  private deployment(name: string): Manifest {
    const found = this.list('Deployment').find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`there is no Deployment ${name}`);
    return found;
  }

  private get config(): string {
    return join(this.folder, 'config.json');
  }

  private async run(args: string[], values: object = {}): Promise<void> {
    const { code, stderr } = await helm([...args, '--namespace', NAMESPACE, '--kubeconfig', this.config], values);
    if (code !== 0) throw new Error(stderr);
  }

  /** Helm says what went wrong, where an unanswered request would leave it waiting. */
  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const failed = { kind: 'Status', apiVersion: 'v1', status: 'Failure' };
    const send = (code: number, body: object): void => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    try {
      const answer = await this.answer(request);
      if (answer === null) send(404, { ...failed, reason: 'NotFound', code: 404 });
      else send(request.method === 'POST' ? 201 : 200, answer);
    } catch (error) {
      send(500, { ...failed, reason: 'InternalError', message: String(error), code: 500 });
    }
  }

  private async answer(request: IncomingMessage): Promise<object | null> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://cluster');
    const found = discovery(path);
    if (found !== null) return found;
    switch (request.method) {
      case 'GET':
        return this.objects.get(path) ?? (isCollection(path) ? this.find(path, searchParams) : null);
      case 'DELETE': {
        const gone = this.objects.get(path) ?? null;
        this.objects.delete(path);
        return gone;
      }
      case 'POST': {
        const made = (await json(request)) as Manifest;
        this.objects.set(`${path}/${made.metadata.name}`, made);
        return made;
      }
      default: {
        const before = request.method === 'PATCH' ? this.objects.get(path) : {};
        const after = merge(before, await json(request)) as Manifest;
        this.objects.set(path, after);
        return after;
      }
    }
  }

  private find(path: string, query: URLSearchParams): object {
    const wanted = (query.get('labelSelector') ?? '').split(',').filter((term) => term !== '');
    const items = [...this.objects].filter(([at, { metadata }]) => {
      const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`);
      return at.startsWith(`${path}/`) && wanted.every((term) => labels.includes(term));
    });
    const [, groupVersion = '', plural] = /^\/apis?\/(.+)\/namespaces\/[^/]+\/([^/]+)$/.exec(path) ?? [];
    const kind = KINDS[groupVersion]?.find((one) => pluralOf(one) === plural);
    return { kind: `${kind}List`, apiVersion: groupVersion, metadata: {}, items: items.map(([, object]) => object) };
  }
}

const isCollection = (path: string): boolean => /\/namespaces\/[^/]+\/[^/]+$/.test(path);

/** What a client asks to learn which kinds there are. */
function discovery(path: string): object | null {
  if (path === '/version') return { major: '1', minor: '29', gitVersion: 'v1.29.0' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = Object.keys(KINDS)
      .filter((served) => served.includes('/'))
      .map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const groupVersion = /^\/apis?\/(.+)$/.exec(path)?.[1] ?? '';
  const kinds = KINDS[groupVersion];
  if (kinds === undefined) return null;
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update'];
  const resources = kinds.map((kind) => ({ name: pluralOf(kind), singularName: '', namespaced: true, kind, verbs }));
  return { kind: 'APIResourceList', groupVersion, resources };
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(typeof target === 'object' ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}
