import { Cluster } from './support/cluster';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await Cluster.open();
});
afterEach(() => cluster.close());

const POOL = { prometheusUrl: 'http://prometheus.monitoring:9090', maxReplicas: 9 };
type Case = [string, string, object, object];
const CASES: Case[] = [
  [
    'the API',
    'rel-millrace-api',
    { api: { replicas: 4 } },
    { api: { autoscaling: { enabled: true, maxReplicas: 9 } } },
  ],
  [
    'a pool with KEDA',
    'rel-millrace-worker-default',
    { workers: { default: { replicas: 4 } } },
    { workers: { default: { autoscaling: { ...POOL, kind: 'keda' } } } },
  ],
  [
    'a pool with a HorizontalPodAutoscaler',
    'rel-millrace-worker-default',
    { workers: { default: { replicas: 4 } } },
    { workers: { default: { autoscaling: { ...POOL, kind: 'hpa', minReplicas: 1 } } } },
  ],
];

describe('an upgrade', () => {
  it.each(CASES)(
    'that turns autoscaling of %s on ends no process, nor do those after it',
    async (_what, name, by, on) => {
      await cluster.upgrade('minimal', by);
      expect(cluster.replicasOf(name)).toBe(4);
      await cluster.upgrade('minimal', on);
      expect(cluster.replicasOf(name)).toBe(4);
      for (const replicas of [7, 2]) {
        cluster.scale(name, replicas);
        await cluster.upgrade('minimal', on);
        expect(cluster.replicasOf(name)).toBe(replicas);
      }
      await cluster.upgrade('minimal', by);
      expect(cluster.replicasOf(name)).toBe(4);
      await cluster.upgrade('minimal', on);
      expect(cluster.replicasOf(name)).toBe(4);
    },
  );

  it.each(CASES)('names no number for %s, which was autoscaled from the beginning', async (_what, name, _by, on) => {
    await cluster.upgrade('minimal', on);
    await cluster.upgrade('minimal', on);
    const own = cluster.list('Deployment').find(({ metadata }) => metadata.name === name);
    expect(own?.spec).not.toHaveProperty('replicas');
  });

  it('starts the API, which was scaled to nothing, where its autoscaler would leave it at that', async () => {
    await cluster.upgrade('minimal', { api: { replicas: 2 } });
    cluster.scale('rel-millrace-api', 0);
    await cluster.upgrade('minimal', { api: { autoscaling: { enabled: true } } });
    expect(cluster.replicasOf('rel-millrace-api')).toBe(1);
  });
});
