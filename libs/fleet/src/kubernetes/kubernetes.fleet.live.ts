import { eventually } from '@millrace/testing';
import { describeFleet, type FleetUnderTest } from '../fleet.conformance';
import type { FleetMember } from '../fleet';
import { openRealCluster, type RealCluster } from '../fixtures/real-cluster';
import { OWN_DEPLOYMENT } from '../fixtures/stand-in-cluster';
import { STUB_COMPLAINT, classWith } from '../fixtures/stub-worker';
import { KubernetesApi } from './api';
import type { KubernetesFleet } from './kubernetes.fleet';
import type { DeploymentObject, ListOf } from './objects';

// Against a real API server: `npm run test:cluster` starts one and runs this. What must hold of every fleet is that of the stand-in.

async function open(): Promise<FleetUnderTest> {
  const { node, fleet, close } = await openRealCluster();
  return {
    fleet: fleet(),
    engineClass: classWith({}),
    nextRevision: classWith({ settings: { MILLRACE_OTHER: 'x' } }),
    brokenClass: classWith({ settings: { MILLRACE_BROKEN: '1' } }),
    brokenReason: STUB_COMPLAINT,
    countRunning: async (poolId) => node.countRunning(poolId),
    crash: ({ id }) => node.crash(id),
    close,
  };
}

describeFleet('of a real Kubernetes API server', open);

describe('on a real API server the fleet', () => {
  let cluster: RealCluster;
  let fleet: KubernetesFleet;
  const cpu = classWith({});
  beforeEach(async () => {
    cluster = await openRealCluster();
    fleet = cluster.fleet();
  });
  afterEach(() => cluster.close());

  type Full = DeploymentObject & { metadata: { resourceVersion?: string }; status?: { readyReplicas?: number } };
  const deployments = (): string => `/apis/apps/v1/namespaces/${cluster.namespace}/deployments`;
  const listed = async (): Promise<Full[]> => {
    const { items } = await cluster.admin.get<ListOf<Full>>(deployments());
    return items.filter(({ metadata }) => metadata.name !== OWN_DEPLOYMENT);
  };
  const apply = (size: number, leaving: string[] = []): Promise<void> =>
    fleet.apply({ poolId: 'a', engineClass: cpu, size, leaving });
  const members = async (): Promise<FleetMember[]> => (await fleet.observe()).flatMap((group) => group.members);
  const running = (count: number): Promise<FleetMember[]> =>
    eventually(`${count} to run`, async () => {
      const all = await members();
      return all.length === count && all.every(({ phase }) => phase === 'running') && all;
    });

  it('may do nothing but what its Role says', async () => {
    const { admin, tokenFile, namespace } = cluster;
    const api = new KubernetesApi({ url: admin.url, tokenFile, caFile: admin.caFile });
    for (const path of [`/api/v1/namespaces/${namespace}/secrets`, '/api/v1/nodes', '/apis/apps/v1/deployments']) {
      await expect(api.call('GET', path)).rejects.toMatchObject({ status: 403 });
    }
    api.close();
  });

  it('writes nothing while all is as it should be', async () => {
    await apply(2);
    await running(2);
    const before = await eventually('the status to be written', async () => {
      const [one] = await listed();
      return one?.status?.readyReplicas === 2 && one.metadata.resourceVersion;
    });
    for (let step = 0; step < 3; step += 1) {
      await fleet.observe();
      await apply(2);
    }
    expect((await listed()).map(({ metadata }) => metadata.resourceVersion)).toEqual([before]);
  });

  it('sets back what somebody else has changed', async () => {
    await apply(1);
    await running(1);
    const [own] = await listed();
    const changed = { spec: { template: { spec: { nodeSelector: { kind: 'other' } } } } };
    await cluster.admin.patch(`${deployments()}/${own?.metadata.name}`, changed);
    // The change was a rollout, so that there may be two for a moment: none goes that the order does not name.
    await eventually('it to be set back', async () => {
      const [, ...others] = await members();
      await apply(
        1,
        others.map(({ id }) => id),
      );
      const selector = (await listed())[0]?.spec.template.spec.nodeSelector ?? {};
      return Object.keys(selector).length === 0 && others.length === 0;
    });
    await running(1);
  });

  it('says that its pods are refused by a quota, and has them when there is room', async () => {
    const quotas = `/api/v1/namespaces/${cluster.namespace}/resourcequotas`;
    await cluster.admin.post(quotas, { metadata: { name: 'pods' }, spec: { hard: { pods: '1' } } });
    await eventually('the quota to be counted', async () => {
      const { status } = await cluster.admin.get<{ status?: { hard?: object } }>(`${quotas}/pods`);
      return status?.hard !== undefined;
    });
    await apply(2);
    await eventually('one to run and one to be refused', async () => {
      const all = await members();
      const refused = all.some(({ reason }) => /^its pod is refused: .*exceeded quota/.test(reason ?? ''));
      return refused && all.some(({ phase }) => phase === 'running');
    });
    await cluster.admin.patch(`${quotas}/pods`, { spec: { hard: { pods: '2' } } });
    await running(2);
  });

  it('is taken over by another controller as it is: nothing is started twice', async () => {
    await apply(2);
    const before = await running(2);
    fleet = cluster.fleet();
    await fleet.observe();
    await apply(2);
    expect((await running(2)).map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  });

  it('goes with the Deployment of the fleet process', async () => {
    await apply(2);
    await running(2);
    await cluster.admin.delete(`${deployments()}/${OWN_DEPLOYMENT}`, { propagationPolicy: 'Background' });
    await eventually(
      'everything to be gone',
      async () => (await members()).length === 0 && (await listed()).length === 0,
    );
  });
});
