import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { control } from './controllers';
import { hasLabels, type DeploymentSpec, type Meta, type StoredDeployment, type StoredPod } from './objects';
import { Pods, type StandInNode } from './pods';

export const STAND_IN_NAMESPACE = 'millrace';
export const STAND_IN_TOKEN = 'the-token-of-the-stand-in';

/** What the stand-in does with requests that match, instead of answering them. */
interface ScriptedFailure {
  /** Of the method and the path. */
  matches: RegExp;
  /** Null: it takes the request and never answers. */
  status: number | null;
  times: number;
  retryAfterSeconds: number | undefined;
}

/** A verb of a resource, as a Role has it. */
export interface StandInRight {
  resource: string;
  verbs: readonly string[];
}

export interface StandInOptions {
  /** What a worker runs. */
  commandLine: readonly string[];
  /** What the caller may do; anything else is answered 403. */
  rights: readonly StandInRight[];
  nodes?: StandInNode[];
  missingImages?: string[];
}

interface Call {
  verb: string;
  resource: 'deployments' | 'pods';
  name: string | undefined;
  labels: Record<string, string>;
  body: Body;
  isApply: boolean;
}

interface Body {
  metadata?: Partial<Meta>;
  spec?: Partial<DeploymentSpec>;
  preconditions?: { uid?: string };
}

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const VERBS: Record<string, string> = { GET: 'get', PATCH: 'patch', DELETE: 'delete' };

/**
 * Stands in for the API server of Kubernetes and its controllers: Deployments and pods of one namespace over HTTP, as far as the
 * fleet uses them. Pods run processes of this machine.
 */
export class KubernetesStandIn {
  readonly deployments = new Map<string, StoredDeployment>();
  readonly pods: Pods;
  /** `verb resource` of every call that was allowed. */
  readonly calls = new Set<string>();
  /** How many writes there were. */
  writes = 0;
  /** Pods that may be at most. */
  quota = Number.POSITIVE_INFINITY;
  private failures: ScriptedFailure[] = [];
  private server: Server | undefined;

  private constructor(private readonly options: StandInOptions) {
    const nodes = options.nodes ?? [{ name: 'node-1', labels: {}, gpus: 0 }];
    this.pods = new Pods(nodes, options.commandLine, new Set(options.missingImages), () => this.settle());
  }

  static async start(options: StandInOptions): Promise<KubernetesStandIn> {
    const standIn = new KubernetesStandIn(options);
    const server = createServer((request, response) => void standIn.answer(request, response));
    standIn.server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo).port}`;
  }

  /** Answer requests that match (`PATCH /apis/…`) with a status, or never with null, as often as said. */
  fail(matches: RegExp, status: number | null, times: number, retryAfterSeconds?: number): void {
    this.failures.push({ matches, status, times, retryAfterSeconds });
  }

  /** Everything answers again. */
  heal(): void {
    this.failures = [];
  }

  /** Let the controllers do what follows from the last change. */
  settle(): void {
    control(this.deployments, this.pods, this.quota);
  }

  /** A Deployment that is not made by requests, such as the one that owns others. */
  add(name: string): void {
    const metadata = { ...newMeta(name), labels: {} };
    const spec = { replicas: 0, selector: { matchLabels: { name } }, template: { spec: { containers: [] } } };
    this.deployments.set(name, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec,
      status: { conditions: [] },
    });
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => this.server?.close(() => resolve()));
    await this.pods.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const failure = this.failures.find(
      ({ matches, times }) => times > 0 && matches.test(`${request.method} ${request.url}`),
    );
    if (failure !== undefined) {
      failure.times -= 1;
      if (failure.status === null) return;
      const { retryAfterSeconds } = failure;
      const header: Record<string, number> =
        retryAfterSeconds === undefined ? {} : { 'retry-after': retryAfterSeconds };
      send(response, failure.status, { kind: 'Status', message: 'as the test says' }, header);
      return;
    }
    try {
      const text = Buffer.concat(chunks).toString('utf8');
      send(response, 200, this.serve(request, text === '' ? {} : (JSON.parse(text) as Body)));
    } catch (error) {
      const status = error instanceof Refused ? error.status : 500;
      send(response, status, { kind: 'Status', message: (error as Error).message });
    }
  }

  private serve(request: IncomingMessage, body: Body): object {
    if (request.headers.authorization !== `Bearer ${STAND_IN_TOKEN}`) throw new Refused(401, 'Unauthorized');
    const call = callOf(request, body);
    this.allow(call.verb, call.resource);
    if (call.verb !== 'get' && call.verb !== 'list') this.writes += 1;
    const objects: Map<string, StoredDeployment | StoredPod> =
      call.resource === 'pods' ? this.pods.all : this.deployments;
    if (call.verb === 'list')
      return { items: [...objects.values()].filter(({ metadata }) => hasLabels(metadata, call.labels)) };
    if (call.isApply) return this.apply(call.name ?? '', body);
    const found = objects.get(call.name ?? '');
    if (found === undefined) throw new Refused(404, `${call.resource} "${call.name}" not found`);
    const uid = body.preconditions?.uid ?? body.metadata?.uid ?? found.metadata.uid;
    if (uid !== found.metadata.uid) throw new Refused(409, 'the UID in the precondition does not match');
    if (call.verb === 'patch') this.patch(found, body);
    if (call.verb === 'delete') {
      if (found.kind === 'Pod') this.pods.remove(found);
      else this.deployments.delete(found.metadata.name);
    }
    this.settle();
    return found;
  }

  private allow(verb: string, resource: string): void {
    const right = this.options.rights.find((one) => one.resource === resource);
    if (right?.verbs.includes(verb) !== true) throw new Refused(403, `cannot ${verb} resource "${resource}"`);
    this.calls.add(`${verb} ${resource}`);
  }

  /** What the one manager applies is all that there is of an object. */
  private apply(name: string, { metadata, spec }: Body): StoredDeployment {
    const found = this.deployments.get(name);
    if (found === undefined) this.allow('create', 'deployments');
    const made: StoredDeployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...(found?.metadata ?? newMeta(name)), ...metadata },
      spec: { ...(spec as DeploymentSpec) },
      status: { conditions: [] },
    };
    if (found !== undefined && JSON.stringify(found.spec) !== JSON.stringify(made.spec)) made.metadata.generation += 1;
    this.deployments.set(name, made);
    this.settle();
    return made;
  }

  private patch(found: StoredDeployment | StoredPod, { metadata, spec }: Body): void {
    Object.assign(found.metadata.annotations, metadata?.annotations);
    if (spec === undefined || found.kind === 'Pod') return;
    Object.assign(found.spec, spec);
    found.metadata.generation += 1;
  }
}

function callOf({ method = '', url = '', headers }: IncomingMessage, body: Body): Call {
  const { pathname, searchParams } = new URL(url, 'http://stand-in');
  const path = new RegExp(
    `^/(?:api/v1|apis/apps/v1)/namespaces/${STAND_IN_NAMESPACE}/(deployments|pods)(?:/([^/]+))?$`,
  );
  const [, resource, name] = path.exec(pathname) ?? [];
  const verb = VERBS[method];
  if (resource === undefined || verb === undefined) throw new Refused(404, `${method} ${pathname} is not served`);
  const pairs = (searchParams.get('labelSelector') ?? '').split(',').filter(Boolean);
  return {
    verb: verb === 'get' && name === undefined ? 'list' : verb,
    resource: resource as Call['resource'],
    name,
    labels: Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])),
    body,
    isApply: headers['content-type'] === 'application/apply-patch+yaml',
  };
}

function newMeta(name: string): Meta {
  const creationTimestamp = new Date().toISOString();
  return {
    name,
    uid: randomUUID(),
    generation: 1,
    labels: {},
    annotations: {},
    ownerReferences: [],
    creationTimestamp,
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string | number> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
