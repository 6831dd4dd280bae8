import { eventually } from '@millrace/testing';
import { describeFleet, type FleetUnderTest } from '../fleet.conformance';
import type { FleetMember } from '../fleet';
import { OWN_DEPLOYMENT, openStandIn, type StandInCluster } from '../fixtures/stand-in-cluster';
import { STUB_COMPLAINT, classWith } from '../fixtures/stub-worker';
import { KUBERNETES_RIGHTS } from './cluster';
import type { KubernetesFleet } from './kubernetes.fleet';

async function open(): Promise<FleetUnderTest> {
  const { standIn, fleet, close } = await openStandIn();
  return {
    fleet: fleet(),
    engineClass: classWith({}),
    nextRevision: classWith({ settings: { MILLRACE_OTHER: 'x' } }),
    brokenClass: classWith({ settings: { MILLRACE_BROKEN: '1' } }),
    brokenReason: STUB_COMPLAINT,
    countRunning: async (poolId) => {
      const pods = [...standIn.pods.all.values()].filter(({ metadata }) => metadata.labels['millrace/pool'] === poolId);
      return pods.filter(({ metadata }) => standIn.pods.isRunning(metadata.name)).length;
    },
    crash: async ({ id }) => standIn.pods.crash(id),
    close: async () => {
      const needed = KUBERNETES_RIGHTS.flatMap(({ resource, verbs }) => verbs.map((verb) => `${verb} ${resource}`));
      await close();
      // What the Role allows is what is used: what it lacks is answered 403, and there is nothing in it that was not called.
      expect([...standIn.calls].sort()).toEqual(needed.sort());
    },
  };
}

describeFleet('of a Kubernetes cluster', open);

describe('the fleet of a Kubernetes cluster', () => {
  let cluster: StandInCluster;
  let fleet: KubernetesFleet;
  const cpu = classWith({});
  const gpu = classWith({ gpu: { kind: 'nvidia-l40s', count: 1 } });
  beforeEach(async () => {
    cluster = await openStandIn({
      missingImages: ['missing:1'],
      nodes: [
        { name: 'plain', labels: {}, gpus: 0 },
        { name: 'large', labels: { kind: 'large' }, gpus: 2 },
      ],
    });
    fleet = cluster.fleet();
  });
  afterEach(() => cluster.close());

  const apply = (size: number, { poolId = 'a', engineClass = cpu, leaving = [] as string[] } = {}): Promise<void> =>
    fleet.apply({ poolId, engineClass, size, leaving });
  const members = async (poolId = 'a'): Promise<FleetMember[]> =>
    (await fleet.observe()).find((group) => group.poolId === poolId)?.members ?? [];
  const running = (count: number, poolId = 'a'): Promise<FleetMember[]> =>
    eventually(`${count} to run`, async () => {
      const all = await members(poolId);
      return all.length === count && all.every(({ phase }) => phase === 'running') && all;
    });
  const only = async (): Promise<FleetMember | undefined> => (await members())[0];
  const deployment = () =>
    [...cluster.standIn.deployments.values()].find(({ metadata }) => metadata.name !== OWN_DEPLOYMENT);

  describe('says in plain words', () => {
    it('that no node has the GPU, and waits for one without end', async () => {
      await apply(1, { engineClass: classWith({ gpu: { kind: 'nvidia-h200', count: 4 } }) });
      const before = await only();
      expect(before).toMatchObject({ phase: 'starting', reason: '0/2 nodes have the GPU' });
      expect((await only())?.startedAt.getTime()).toBeGreaterThanOrEqual(before?.startedAt.getTime() ?? Number.NaN);
      cluster.standIn.pods.nodes.push({ name: 'new', labels: {}, gpus: 8 });
      cluster.standIn.pods.scheduleAll();
      await running(1);
    });

    it('that workers of the revision before have the room that new ones lack', async () => {
      await apply(2, { engineClass: gpu });
      await running(2);
      fleet = cluster.fleet('millrace-worker:next');
      await fleet.observe();
      await apply(3, { engineClass: gpu });
      const all = await members();
      const [lacking] = all.filter(({ phase }) => phase === 'starting');
      expect(lacking?.room?.lackedSince).toBeInstanceOf(Date);
      expect(new Set(all.map(({ room }) => room?.needs)).size).toBe(1);
    });

    it('that an image cannot be pulled', async () => {
      await apply(1, { engineClass: classWith({ image: 'missing:1' }) });
      expect(await only()).toMatchObject({
        phase: 'starting',
        reason: 'image cannot be pulled: Back-off pulling image "missing:1": not found',
      });
    });

    it('that its pods are refused', async () => {
      cluster.standIn.quota = 1;
      await apply(2);
      await eventually('one to run and one to be refused', async () => {
        const all = await members();
        return (
          all.some(({ reason }) => reason?.includes('exceeded quota')) && all.some(({ phase }) => phase === 'running')
        );
      });
      cluster.standIn.quota = 2;
      cluster.standIn.settle();
      await running(2);
    });
  });

  it('writes nothing while all is as it should be', async () => {
    await apply(2);
    await running(2);
    await apply(2);
    const { writes } = cluster.standIn;
    for (let step = 0; step < 3; step += 1) {
      await fleet.observe();
      await apply(2);
    }
    expect(cluster.standIn.writes).toBe(writes);
  });

  it('sets back what somebody else has changed', async () => {
    await apply(1);
    await running(1);
    const own = deployment();
    if (own === undefined) throw new Error('there is no Deployment');
    own.spec.template.spec.nodeSelector = { kind: 'other' };
    own.metadata.generation += 1;
    await fleet.observe();
    await apply(1);
    expect(deployment()?.spec.template.spec.nodeSelector).toEqual({});
  });

  it('stops none that the plan has not named, also where somebody else has started more', async () => {
    await apply(1);
    const [first] = await running(1);
    const own = deployment();
    if (own === undefined) throw new Error('there is no Deployment');
    Object.assign(own.spec, { replicas: 3 });
    own.metadata.generation += 1;
    cluster.standIn.settle();
    const others = (await running(3)).map(({ id }) => id).filter((id) => id !== first?.id);
    await apply(1);
    await running(3);
    await apply(1, { leaving: others });
    expect((await running(1)).map(({ id }) => id)).toEqual([first?.id]);
  });

  it('makes again what somebody has deleted', async () => {
    await apply(1);
    const [first] = await running(1);
    cluster.standIn.deployments.delete(deployment()?.metadata.name ?? '');
    cluster.standIn.settle();
    await running(0);
    await apply(1);
    expect((await running(1)).map(({ id }) => id)).not.toEqual([first?.id]);
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
    cluster.standIn.deployments.delete(OWN_DEPLOYMENT);
    cluster.standIn.settle();
    await eventually('everything to be gone', async () => (await fleet.observe()).length === 0);
  });

  it('replaces workers of another template as those of another class: none is stopped by Kubernetes', async () => {
    await apply(1);
    const [old] = await running(1);
    fleet = cluster.fleet('millrace-worker:2');
    await fleet.observe();
    await apply(2);
    const both = await running(2);
    expect(both.map(({ id, revision }) => [id === old?.id, revision === cpu.revision]).sort()).toEqual([
      [false, true],
      [true, false],
    ]);
    await apply(1, { leaving: [old?.id ?? ''] });
    expect((await running(1)).map(({ revision }) => revision)).toEqual([cpu.revision]);
    expect(cluster.standIn.deployments.size).toBe(2);
  });

  it('waits where Kubernetes would choose a busy one that is not ready', async () => {
    await apply(2);
    const [busy, idle] = await running(2);
    const pod = cluster.standIn.pods.all.get(busy?.id ?? '');
    if (pod === undefined) throw new Error('there is no pod');
    const conditions = pod.status.conditions;
    pod.status.conditions = conditions.filter(({ type }) => type !== 'Ready');
    await fleet.observe();
    await apply(1, { leaving: [idle?.id ?? ''] });
    expect(await running(2)).toHaveLength(2);
    pod.status.conditions = conditions;
    await fleet.observe();
    await apply(1, { leaving: [idle?.id ?? ''] });
    expect((await running(1)).map(({ id }) => id)).toEqual([busy?.id]);
  });

  it('gives the room of one that leaves to one that waits for it, which Kubernetes would choose in its place', async () => {
    cluster.standIn.pods.nodes.splice(0, 2, { name: 'only', labels: {}, gpus: 1 });
    await apply(1, { engineClass: gpu });
    const [first] = await running(1);
    await apply(2, { engineClass: gpu });
    const waiting = (await members()).filter(({ phase }) => phase === 'starting');
    expect(waiting).toMatchObject([{ reason: expect.stringContaining('nodes have the GPU') as string }]);
    const leaving = [first?.id ?? ''];
    await apply(1, { engineClass: gpu, leaving });
    const [next] = await eventually('the next one to run', async () => {
      cluster.standIn.pods.scheduleAll();
      const all = await members();
      return all.length === 1 && all[0]?.phase === 'running' && all[0].id !== first?.id && all;
    });
    await apply(1, { engineClass: gpu });
    expect((await running(1)).map(({ id }) => id)).toEqual([next?.id]);
    expect(deployment()?.spec.replicas).toBe(1);
  });

  it('lets one go, too, where Kubernetes would choose another whose image is not there yet', async () => {
    await apply(1);
    const [first] = await running(1);
    const pulled = cluster.standIn.pods.all;
    await apply(2);
    const second = (await running(2)).find(({ id }) => id !== first?.id)?.id ?? '';
    Object.assign(pulled.get(second)?.status ?? {}, { phase: 'Pending', conditions: [] });
    await fleet.observe();
    await apply(1, { leaving: [first?.id ?? ''] });
    expect((await running(1)).map(({ id }) => id)).not.toEqual([first?.id]);
  });

  it('keeps a busy one that is not ready where others have no node', async () => {
    await apply(2, { engineClass: gpu });
    const [busy, idle] = await running(2);
    await apply(3, { engineClass: gpu });
    const pod = cluster.standIn.pods.all.get(busy?.id ?? '');
    if (pod === undefined) throw new Error('there is no pod');
    pod.status.conditions = pod.status.conditions.filter(({ type }) => type !== 'Ready');
    await fleet.observe();
    await apply(2, { engineClass: gpu, leaving: [idle?.id ?? ''] });
    expect((await members()).map(({ phase }) => phase).sort()).toEqual(['running', 'running', 'starting']);
  });

  it('lets the ReplicaSet choose the one that leaves, so that none is started in its place', async () => {
    await apply(3);
    const [first, second, third] = await running(3);
    await apply(2, { leaving: [second?.id ?? ''] });
    const left = await running(2);
    expect(left.map(({ id }) => id).sort()).toEqual([first?.id, third?.id].sort());
    expect(cluster.standIn.calls).not.toContain('delete pods');
  });

  it('has another one in the place of a pod that its node gave up, of which nothing failed', async () => {
    await apply(2);
    const before = await running(2);
    const gone = before[0]?.id ?? '';
    cluster.standIn.pods.disrupt(gone);
    cluster.standIn.settle();
    const seen = await members();
    expect(seen.find(({ id }) => id === gone)).toMatchObject({
      phase: 'lost',
      reason: 'its node gave it up: Pod was terminated in response to imminent node shutdown.',
    });
    await apply(2);
    const after = await running(2);
    expect(after.some(({ id }) => id === gone)).toBe(false);
  });

  it('keeps a pod in which the engine of a worker that was ready is started again', async () => {
    await apply(1);
    const [kept] = await running(1);
    cluster.standIn.pods.restartEngine(kept?.id ?? '');
    const { writes } = cluster.standIn;
    expect(await only()).toMatchObject({ id: kept?.id, phase: 'running' });
    await apply(1);
    expect(cluster.standIn.writes).toBe(writes);
    expect((await running(1)).map(({ id }) => id)).toEqual([kept?.id]);
  });

  it('starts others where a node is gone with all that ran on it', async () => {
    await apply(2, { engineClass: gpu });
    const before = await running(2);
    cluster.standIn.pods.nodes.push({ name: 'spare', labels: {}, gpus: 2 });
    cluster.standIn.pods.lose('large');
    cluster.standIn.settle();
    const after = await eventually('two others to run', async () => {
      const all = (await members()).filter(({ phase }) => phase === 'running');
      return all.length === 2 && all;
    });
    expect(after.filter(({ id }) => before.some((old) => old.id === id))).toEqual([]);
  });

  describe('when the API server', () => {
    const refusals: [string, number | null, RegExp][] = [
      ['answers 409', 409, /409/],
      ['answers 429', 429, /429/],
      ['answers 500', 500, /500/],
      ['does not answer', null, /does not answer: timeout/],
    ];
    it.each(refusals)('%s for one pool, brings the others, and that one later', async (_what, status, reason) => {
      cluster.standIn.fail(/^PATCH .*deployments/, status, 1);
      await expect(apply(1, { poolId: 'b' })).rejects.toThrow(reason);
      // Paused: no further request is made for it.
      const { writes } = cluster.standIn;
      await expect(apply(1, { poolId: 'b' })).rejects.toThrow(reason);
      expect(cluster.standIn.writes).toBe(writes);
      await apply(1);
      await running(1);
      await eventually('the pause to be over', () =>
        apply(1, { poolId: 'b' }).then(
          () => true,
          () => false,
        ),
      );
      await running(1, 'b');
    });

    it('refuses to list anything, fails as a whole', async () => {
      cluster.standIn.fail(/^GET .*pods/, 500, 1);
      await expect(fleet.observe()).rejects.toThrow('Kubernetes answered 500: as the test says');
      expect(await fleet.observe()).toEqual([]);
    });

    it('forbids a call, says which', async () => {
      cluster.standIn.fail(/^PATCH/, 403, 1);
      await expect(apply(1)).rejects.toThrow('403');
    });
  });
});
