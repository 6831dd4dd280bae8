/** What the number of a pool's workers follows from. */
export interface WorkerNeed {
  /** Workers that are kept without work. */
  minWorkers: number;
  maxWorkers: number;
  /** How long workers without work are kept beyond the least, in seconds. */
  idleSeconds: number;
  /** Its operator stopped it: nothing is started, what runs is let end. */
  stopped: boolean;
  deleted: boolean;
  /** Jobs that run, or wait and may run now; one where a request wants a deployment that has no worker. */
  pendingJobs: number;
  runningJobs: number;
  /** Attempts that one worker runs at once. */
  attemptsPerWorker: number;
  /** Workers that it has and keeps unless fewer are wanted. */
  current: number;
  /** For how long it has had more workers than its jobs need, in seconds; null where it has not. */
  surplusSeconds: number | null;
}

/**
 * How many workers a pool is to have. More at once, as jobs need them; fewer only after the idle time. A stopped deployment
 * keeps as many as its running jobs need and starts none.
 */
export function workersWanted(need: WorkerNeed): number {
  if (need.deleted) return 0;
  if (need.stopped) return Math.min(need.current, forJobs(need.runningJobs, need));
  const needed = workersNeeded(need);
  if (needed >= need.current || (need.surplusSeconds ?? 0) >= need.idleSeconds) return needed;
  return Math.max(needed, Math.min(need.current, need.maxWorkers));
}

/** How many workers its jobs need now, within its bounds. */
export function workersNeeded(need: Omit<WorkerNeed, 'current' | 'surplusSeconds'>): number {
  return Math.min(need.maxWorkers, Math.max(need.minWorkers, forJobs(need.pendingJobs, need)));
}

function forJobs(jobs: number, { attemptsPerWorker }: Pick<WorkerNeed, 'attemptsPerWorker'>): number {
  return Math.ceil(jobs / Math.max(1, attemptsPerWorker));
}
