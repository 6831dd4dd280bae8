import type { PlacedStart } from '@millrace/deployments';
import type { Group } from './fleet';
import type { ReportedWorker } from './served-pool.store';
import { isWorkerOf } from './staff';

/** What came before the process of a worker, as the fleet says. */
export interface Placement {
  workerId: string;
  placed: PlacedStart;
}

/** Notes how workers came to be ready, of those that one controller looks after. */
export class StartWatch {
  /** Those that were ready in the step before; null: this controller has not led in it. */
  private ready: ReadonlySet<string> | null = null;

  /** Another controller leads: what happens meanwhile is counted there. */
  forget(): void {
    this.ready = null;
  }

  /** The workers that have become ready since the step before. Each is named once, by the controller that sees it happen. */
  newlyReady(workers: readonly ReportedWorker[]): ReportedWorker[] {
    const before = this.ready;
    this.ready = new Set(workers.filter(({ wasReady }) => wasReady).map(({ id }) => id));
    return before === null ? [] : workers.filter(({ id, wasReady }) => wasReady && !before.has(id));
  }
}

/** What the fleet knows of the starts of workers, and their records lack. */
export function placementsOf(groups: readonly Group[], workers: readonly ReportedWorker[]): Placement[] {
  const members = groups.flatMap((group) => group.members);
  return workers.flatMap((worker) => {
    if (worker.scheduleMs !== null || worker.pullMs !== null) return [];
    const placed = members.find((member) => isWorkerOf(member, worker))?.placed;
    const isKnown = placed !== undefined && (placed.scheduleMs !== null || placed.pullMs !== null);
    return isKnown ? [{ workerId: worker.id, placed }] : [];
  });
}
