import { Metrics } from './metrics';

const POOLS = 4_000;
const GONE = 200;

/** Metrics with what processes count of many pools, and of each metric how often it is read, and whether the event loop had a turn before. */
function manyPools(): { metrics: Metrics; pools: string[]; reads: Map<string, number>; ranBetween: boolean[] } {
  const metrics = new Metrics('maintenance');
  const pools = Array.from({ length: POOLS }, (_, number) => `pool-${number}`);
  for (const pool of pools) {
    metrics.showPool(pool);
    metrics.queueDepth.set({ pool, delivery: 'waiting' }, 1);
  }
  const reads = new Map<string, number>();
  const ranBetween: boolean[] = [];
  let turns = 1;
  let seen = 0;
  for (const [name, metric] of Object.entries(metrics) as [string, { get?: () => Promise<unknown> }][]) {
    const { get } = metric;
    if (get === undefined) continue;
    metric.get = () => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      ranBetween.push(turns > seen);
      seen = turns;
      setImmediate(() => (turns += 1));
      return get.call(metric);
    };
  }
  return { metrics, pools, reads, ranBetween };
}

describe('pools that are gone', () => {
  it('are all forgotten in one pass over the metrics, in which the event loop has a turn before each', async () => {
    const { metrics, pools, reads, ranBetween } = manyPools();
    await metrics.forgetPools(new Set(pools.slice(0, GONE)));
    expect(Math.max(...reads.values())).toBe(1);
    expect(reads.get('startDelaySeconds')).toBe(1);
    expect(new Set(ranBetween)).toEqual(new Set([true]));
    expect(await metrics.pools()).toEqual(pools.slice(GONE));
  });

  it('are looked for without holding the event loop up', async () => {
    const { metrics, pools, reads, ranBetween } = manyPools();
    expect(await metrics.pools()).toEqual(pools);
    expect(Math.max(...reads.values())).toBe(1);
    expect(new Set(ranBetween)).toEqual(new Set([true]));
  });

  it('begin with 0 again when they are shown once more', async () => {
    const metrics = new Metrics('maintenance');
    metrics.showPool('a');
    metrics.leaseLosses.inc({ pool: 'a' });
    await metrics.forgetPools(new Set(['a']));
    expect(await metrics.pools()).toEqual([]);
    metrics.showPool('a');
    expect(await metrics.registry.metrics()).toContain('millrace_lease_losses_total{pool="a",role="maintenance"} 0');
  });
});
