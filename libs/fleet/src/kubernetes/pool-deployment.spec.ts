import { stubTemplate } from '../fixtures/stand-in-cluster';
import { classWith } from '../fixtures/stub-worker';
import type { DeploymentObject } from './objects';
import { poolDeployment, poolTemplate, revisionOf, type PoolTemplate } from './pool-deployment';

const identity = {
  fleet: 'millrace-fleet',
  namespace: 'n',
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'millrace-fleet', uid: 'u' },
  gpuResource: 'nvidia.com/gpu',
};
const made = (more: object, template: PoolTemplate = stubTemplate(), poolId = 'p'): DeploymentObject =>
  poolDeployment(template, { poolId, engineClass: classWith(more), replicas: 2 }, identity);

describe('the Deployment of a pool', () => {
  it('has the replicas, is found by labels, and goes with its owner', () => {
    const { metadata, spec } = made({});
    expect(metadata).toMatchObject({ namespace: 'n', ownerReferences: [identity.owner] });
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'millrace', 'millrace/pool': 'p' });
    expect(spec.replicas).toBe(2);
    expect(spec.template.metadata?.labels).toMatchObject(spec.selector?.matchLabels ?? { none: 'x' });
    expect(spec.template.metadata?.labels).toMatchObject({ 'app.kubernetes.io/component': 'worker' });
  });

  it('has what its class names', () => {
    const toleration = { key: 'gpu', operator: 'Exists' };
    const { spec } = made({
      image: 'mine:1',
      gpu: { kind: 'nvidia-l40s', count: 2 },
      memory: '64Gi',
      nodeSelector: { kind: 'l40s' },
      tolerations: [toleration],
      reach: ['models.example.com'],
      settings: { MILLRACE_WORKER_CAPACITY: '2' },
    });
    const { nodeSelector, tolerations, containers } = spec.template.spec;
    expect([nodeSelector, tolerations]).toEqual([{ kind: 'l40s' }, [toleration]]);
    expect(spec.template.metadata?.labels).toMatchObject({ 'millrace/internet': 'allowed' });
    const [worker] = containers;
    const limits = { 'nvidia.com/gpu': 2, memory: '64Gi' };
    expect(worker).toMatchObject({ image: 'mine:1', resources: { limits, requests: { memory: '64Gi' } } });
    expect(worker?.env).toEqual([
      { name: 'PATH', value: process.env.PATH },
      { name: 'NODE_OPTIONS', value: '--max-old-space-size=39321' },
      { name: 'MILLRACE_WORKER_CAPACITY', value: '2' },
      { name: 'MILLRACE_POOL', value: 'p' },
      { name: 'MILLRACE_ENGINE', value: 'cpu' },
    ]);
  });

  it('gives image and GPU to the engine beside the worker, where there is one', () => {
    const { deployment } = stubTemplate();
    const template = structuredClone(deployment);
    template.spec.template.spec.initContainers = [{ name: 'comfyui', image: 'comfyui:1' }];
    const gpu = { kind: 'a', count: 1 };
    const { spec } = made({ engine: 'comfyui', image: 'mine:1', gpu }, poolTemplate(template));
    const { initContainers = [], containers } = spec.template.spec;
    expect(initContainers[0]).toMatchObject({ image: 'mine:1', resources: { limits: { 'nvidia.com/gpu': 1 } } });
    expect(containers[0]).toMatchObject({ image: 'millrace-worker' });
  });

  it.each([
    ['512Mi', '--max-old-space-size=307'],
    ['1Gi', '--max-old-space-size=614'],
    ['64Gi', '--max-old-space-size=39321'],
    ['1.5G', '--max-old-space-size=858'],
    ['0.001Ti', '--max-old-space-size=629'],
    ['629145600', '--max-old-space-size=360'],
    [null, '--max-old-space-size=1228'],
  ])('has the heap that its memory has room for: %s', (memory, heap) => {
    const { deployment } = stubTemplate();
    const template = structuredClone(deployment);
    const [worker] = template.spec.template.spec.containers;
    if (worker === undefined) throw new Error('there is a worker');
    worker.env = [{ name: 'NODE_OPTIONS', value: '--enable-source-maps --max-old-space-size=1228' }];
    const [container] = made({ memory }, poolTemplate(template)).spec.template.spec.containers;
    const options = container?.env?.filter(({ name }) => name === 'NODE_OPTIONS');
    expect(options).toEqual([{ name: 'NODE_OPTIONS', value: `--enable-source-maps ${heap}` }]);
  });

  it('leaves the heap of a worker whose engine is beside it', () => {
    const template = structuredClone(stubTemplate().deployment);
    const { spec } = template.spec.template;
    spec.initContainers = [{ name: 'comfyui', image: 'comfyui:1' }];
    const { containers, initContainers } = made({ engine: 'comfyui', memory: '64Gi' }, poolTemplate(template)).spec
      .template.spec;
    expect(initContainers?.[0]?.resources?.limits).toEqual({ memory: '64Gi' });
    expect([...containers, ...(initContainers ?? [])].flatMap(({ env = [] }) => env)).not.toContainEqual(
      expect.objectContaining({ name: 'NODE_OPTIONS' }),
    );
  });

  it('has one name for one pool and revision, short enough for the names of its pods', () => {
    const long = structuredClone(stubTemplate().deployment);
    long.metadata.name = 'a'.repeat(60);
    const names = [made({}), made({}), made({}, undefined, 'q'), made({ image: 'b' }), made({}, stubTemplate('c'))];
    expect(new Set(names.map(({ metadata }) => metadata.name)).size).toBe(4);
    // A dash, ten characters of the ReplicaSet, a dash, five of the pod.
    expect((made({}, poolTemplate(long)).metadata.name ?? '').length + 17).toBeLessThanOrEqual(63);
  });

  it('is another one with another template', () => {
    expect(revisionOf(classWith({}), stubTemplate('a'))).not.toBe(revisionOf(classWith({}), stubTemplate('b')));
  });
});

describe('a template', () => {
  it.each([
    ['nothing', null],
    ['another kind', { kind: 'Pod' }],
    ['no worker', { kind: 'Deployment', metadata: {}, spec: { template: { spec: { containers: [{ name: 'x' }] } } } }],
  ])('is refused that is %s', (_what, given) => {
    expect(() => poolTemplate(given)).toThrow('not a Deployment with a container of the name worker');
  });
});
