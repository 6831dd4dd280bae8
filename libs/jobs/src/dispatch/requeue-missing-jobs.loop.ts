import type { Statements } from '@millrace/database';
import { workOnAll, type Loop, type LoopReport } from '@millrace/platform';
import type { WorkingPoolsStore } from '../state';
import type { Dispatcher } from './dispatcher';

/** Puts attempts back that are in a lane by Postgres and not by the lane: Redis lost them, or never received them. */
export class RequeueMissingJobsLoop implements Loop {
  readonly name = 'requeue-missing-jobs';
  readonly everyMs = 2_000;
  /** Pools of the run before: the dispatcher forgets what it put back there once nothing of it is in flight. */
  private before: readonly string[] = [];

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<WorkingPoolsStore, 'listInFlight'>,
    private readonly dispatcher: Pick<Dispatcher, 'redeliver'>,
  ) {}

  /** @throws when Redis is away; the next run tries again. */
  async runOnce(report?: LoopReport): Promise<number> {
    const poolIds = await this.pools.listInFlight(this.database);
    const due = [...new Set([...this.before, ...poolIds])];
    this.before = poolIds;
    return workOnAll(due, (poolId) => this.dispatcher.redeliver(poolId), report);
  }
}
