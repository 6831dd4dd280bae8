import type { Metrics } from '@millrace/platform';

/** How a pool is after a step. */
interface PoolStep {
  wanted: number;
  running: number;
  failures: number;
}

/** Shows how pools are: those that the latest step looked at, and none that is gone since. */
export class PoolFigures {
  private readonly steps = new Map<string, PoolStep>();

  constructor(
    private readonly metrics: Pick<Metrics, 'fleetWorkersWanted' | 'fleetWorkersReady' | 'fleetStartFailures'>,
  ) {}

  /** A step has looked at a pool. */
  record(pool: string, step: PoolStep): void {
    this.steps.set(pool, step);
  }

  /** The step has ended. @param leads false: what this process knew of pools is another one's to know now. */
  show(leads: boolean): void {
    const { fleetWorkersWanted, fleetWorkersReady, fleetStartFailures } = this.metrics;
    for (const gauge of [fleetWorkersWanted, fleetWorkersReady, fleetStartFailures]) gauge.reset();
    for (const [pool, { wanted, running, failures }] of leads ? this.steps : []) {
      fleetWorkersWanted.set({ pool }, wanted);
      fleetWorkersReady.set({ pool }, running);
      fleetStartFailures.set({ pool }, failures);
    }
    this.steps.clear();
  }
}
