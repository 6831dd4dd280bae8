import { Metrics } from '@millrace/platform';
import { PoolFigures } from './pool-figures';

const STEP = { wanted: 2, running: 1, failures: 0 };

async function poolsOf(metrics: Metrics): Promise<unknown[]> {
  const gauges = [metrics.fleetWorkersWanted, metrics.fleetWorkersReady, metrics.fleetStartFailures];
  const read = await Promise.all(gauges.map((gauge) => gauge.get()));
  return read.map(({ values }) => values.map(({ labels, value }) => [labels.pool, value]));
}

it('shows the pools that the latest step looked at, and none that is gone', async () => {
  const metrics = new Metrics('fleet');
  const figures = new PoolFigures(metrics);
  for (const pool of ['a', 'b']) figures.record(pool, STEP);
  figures.show(true);
  figures.record('b', { ...STEP, failures: 3 });
  figures.show(true);
  expect(await poolsOf(metrics)).toEqual([[['b', 2]], [['b', 1]], [['b', 3]]]);
});

it('shows nothing of pools while another process leads', async () => {
  const metrics = new Metrics('fleet');
  const figures = new PoolFigures(metrics);
  figures.record('a', STEP);
  figures.show(true);
  figures.record('a', STEP);
  figures.show(false);
  expect(await poolsOf(metrics)).toEqual([[], [], []]);
});
