import type { Statements } from '@millrace/database';
import type { BusyAccount, DispatchStore } from './dispatch.store';

/** How old a pool's picture may be. Places in a queue are estimates, and every submission asks. */
const BELIEVED_MS = 500;

/** A pool's queues as they stood a moment ago: how full the pool is, and where in the rotation a job stands. */
export class QueueOutlook {
  private readonly believed = new Map<string, { busy: Promise<BusyAccount[]>; until: number }>();

  constructor(
    private readonly database: Statements,
    private readonly store: DispatchStore,
  ) {}

  /** Jobs waiting in the pool. */
  async waiting(poolId: string): Promise<number> {
    const busy = await this.busy(poolId);
    return busy.reduce((sum, account) => sum + account.waiting, 0);
  }

  /**
   * An estimate of a waiting job's place in its pool: after the jobs of its own account before it, and after as many of
   * every other account as the rotation serves meanwhile.
   *
   * @param ahead jobs of its own account before it.
   * @returns 1 for the next to start.
   */
  async position(poolId: string, accountId: string, ahead: number): Promise<number> {
    return positionAmong(await this.busy(poolId), accountId, ahead);
  }

  private busy(poolId: string): Promise<BusyAccount[]> {
    const now = performance.now();
    const known = this.believed.get(poolId);
    if (known !== undefined && known.until > now) return known.busy;
    const busy = this.store.listBusy(this.database, poolId);
    this.believed.set(poolId, { busy, until: now + BELIEVED_MS });
    busy.catch(() => this.believed.delete(poolId));
    return busy;
  }
}

/** The rotation gives account `o` turns in proportion to its weight while this account has `ahead` + 1 of its own. */
export function positionAmong(busy: readonly BusyAccount[], accountId: string, ahead: number): number {
  const weight = busy.find((account) => account.accountId === accountId)?.weight ?? 1;
  const turns = ahead + 1;
  let position = turns;
  for (const other of busy) {
    if (other.accountId !== accountId)
      position += Math.min(other.waiting, Math.ceil((turns * other.weight) / weight) - 1);
  }
  return position;
}
