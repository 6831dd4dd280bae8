import { setImmediate } from 'node:timers/promises';
import { Counter, Gauge, Histogram } from 'prom-client';

const METRICS = [Counter, Gauge, Histogram];
type Metric = Counter | Gauge | Histogram;

/**
 * The series of these metrics that have the label `pool`, metric by metric. A process may show thousands of pools, so other work of the
 * event loop is done between two metrics.
 *
 * @param metrics an object some of whose fields are metrics.
 */
export async function* poolSeries(metrics: object): AsyncGenerator<PoolSeries> {
  for (const metric of Object.values(metrics)) {
    if (!isMetric(metric)) continue;
    const { values } = await metric.get();
    yield new PoolSeries(
      metric,
      values.flatMap(({ labels }) => (hasPool(labels) ? [labels] : [])),
    );
    await setImmediate();
  }
}

/** Those of one metric. */
class PoolSeries {
  constructor(
    private readonly metric: Metric,
    private readonly labels: PoolLabels[],
  ) {}

  get pools(): string[] {
    return this.labels.map(({ pool }) => pool);
  }

  /** Show none of these pools any more. */
  remove(pools: ReadonlySet<string>): void {
    for (const labels of this.labels) {
      if (!pools.has(labels.pool)) continue;
      // The bound of a bucket is no label of its histogram.
      const { le: _, ...own } = labels;
      this.metric.remove(own);
    }
  }
}

interface PoolLabels extends Record<string, string> {
  pool: string;
}

const hasPool = (labels: object): labels is PoolLabels => 'pool' in labels && typeof labels.pool === 'string';

const isMetric = (field: unknown): field is Metric => METRICS.some((kind) => field instanceof kind);
