import { LoadingCache, type Logger } from '@millrace/platform';
import { readServiceLevels, worstOf, type LevelsOf, type ServiceLevels, type ServiceState } from './service-levels';
import { PROMETHEUS_TIMEOUT_MS, type PrometheusClient } from './prometheus.client';

/** Rules are judged once a minute or less often. */
const FRESH_MS = 30_000;
/** From one question to the next after a failure: a pause for Prometheus, also for one that took all its time not to answer. */
const RETRY_MS = 3 * PROMETHEUS_TIMEOUT_MS;
/** Older figures say nothing of now. */
const STALE_MS = 600_000;

/** How the service does, as far as is known. */
export interface ServiceStatus {
  state: ServiceState;
  /** Null: no figures are known. */
  levels: ServiceLevels | null;
}

/** Reads how the service does, once for all who ask. */
export class StatusService {
  private readonly cache: LoadingCache<ServiceLevels | null>;
  private last: ServiceLevels | null = null;
  private failed = false;

  /** @param prometheus null where no figures are kept */
  constructor(
    private readonly prometheus: PrometheusClient | null,
    private readonly of: LevelsOf,
    private readonly logger: Logger,
    now: () => number = wallClock,
  ) {
    this.cache = new LoadingCache({
      max: 1,
      ttlMs: FRESH_MS,
      ttlMsOf: () => (this.failed ? RETRY_MS : FRESH_MS),
      load: () => this.load(now()),
      now,
    });
  }

  /** Whether this installation keeps figures at all. */
  get isKept(): boolean {
    return this.prometheus !== null;
  }

  /** Never rejects: while figures cannot be read, the last ones stand for ten minutes, and then none. */
  async read(): Promise<ServiceStatus> {
    const levels = await this.cache.get('');
    return { state: worstOf(levels?.components.map(({ state }) => state) ?? ['unknown']), levels };
  }

  private async load(now: number): Promise<ServiceLevels | null> {
    if (this.prometheus === null) return null;
    try {
      this.last = await readServiceLevels(this.prometheus, this.of, new Date(now));
      this.failed = false;
    } catch (error) {
      if (!this.failed) this.logger.warn({ err: error }, 'the figures of the status page could not be read');
      this.failed = true;
      if (this.last !== null && now - this.last.asOf.getTime() > STALE_MS) this.last = null;
    }
    return this.last;
  }
}

/** Milliseconds since 1970 that only go forward, as a cache needs them. */
function wallClock(): number {
  return performance.timeOrigin + performance.now();
}
