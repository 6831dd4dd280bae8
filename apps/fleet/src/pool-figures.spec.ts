import { Metrics } from '@millrace/platform';
import { PoolFigures } from './pool-figures';

const STEP = { wanted: 2, running: 1, failures: 0 };

async function poolsOf(metrics: Metrics): Promise<unknown[]> {
  const gauges = [metrics.fleetWorkersWanted, metrics.fleetWorkersReady, metrics.fleetStartFailures];
  const read = await Promise.all(gauges.map((gauge) => gauge.get()));
  return read.map(({ values }) => values.map(({ labels, value }) => [labels.pool, value]));
}

it('shows the pools as they were last looked at, also those that a late step did not come to, and none that is gone', async () => {
  const metrics = new Metrics('fleet');
  const figures = new PoolFigures(metrics);
  for (const pool of ['a', 'b', 'c']) figures.record(pool, STEP);
  figures.show(true);
  figures.keepOnly(['b', 'c']);
  figures.record('b', { ...STEP, failures: 3 });
  figures.show(true);
  const both = (b: number, c: number): unknown[] => [
    ['b', b],
    ['c', c],
  ];
  expect(await poolsOf(metrics)).toEqual([both(2, 2), both(1, 1), both(3, 0)]);
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
