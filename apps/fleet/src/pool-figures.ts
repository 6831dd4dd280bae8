import type { Metrics } from '@millrace/platform';

/** How a pool is after a step. */
interface PoolStep {
  wanted: number;
  running: number;
  failures: number;
}

/** Shows how pools were when a step last looked at them, and none that is gone since. */
export class PoolFigures {
  private readonly steps = new Map<string, PoolStep>();

  constructor(
    private readonly metrics: Pick<Metrics, 'fleetWorkersWanted' | 'fleetWorkersReady' | 'fleetStartFailures'>,
  ) {}

  /** A step has looked at a pool. */
  record(pool: string, step: PoolStep): void {
    this.steps.set(pool, step);
  }

  /** These pools exist, and no others. A step that is late or fails does not come to each of them. */
  keepOnly(pools: readonly string[]): void {
    const existing = new Set(pools);
    for (const pool of this.steps.keys()) if (!existing.has(pool)) this.steps.delete(pool);
  }

  /** The step has ended. @param leads false: what this process knew of pools is another one's to know now. */
  show(leads: boolean): void {
    if (!leads) this.steps.clear();
    const { fleetWorkersWanted, fleetWorkersReady, fleetStartFailures } = this.metrics;
    for (const gauge of [fleetWorkersWanted, fleetWorkersReady, fleetStartFailures]) gauge.reset();
    for (const [pool, { wanted, running, failures }] of this.steps) {
      fleetWorkersWanted.set({ pool }, wanted);
      fleetWorkersReady.set({ pool }, running);
      fleetStartFailures.set({ pool }, failures);
    }
  }
}
