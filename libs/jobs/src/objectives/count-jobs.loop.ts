import { isTerminal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Loop, Metrics } from '@millrace/platform';
import { faultOf } from '../state';
import type { JobMove, JobMoveStore } from './job-move.store';

/** Moves that one run counts. */
const BATCH = 2_000;
const LEAST_LAG_SECONDS = 60;
/** A transaction ends within two timeouts of statements: one before its last statement begins, and one for that. */
const TIMEOUTS_OF_LAG = 4;

/**
 * Counts how jobs started and ended, for the objectives (docs/slo.md). Workers cannot: `rate` sees only what is added between two readings of a
 * counter, and the first job of a worker that was started for it is what its counters begin with.
 *
 * A job is counted a minute after its move. Until then its transaction has committed, and the counters of its pool were read with 0. A process that
 * has just started counts nothing for as long.
 *
 * The checkpoint moves before anything is counted, and only for the process that moves it: nothing is counted twice, and what a process that ends
 * has counted since its last reading is lost.
 */
export class CountJobsLoop implements Loop {
  readonly name = 'count-jobs';
  readonly everyMs = 10_000;
  private readonly lagSeconds: number;
  private readonly fromMs: number;

  constructor(
    private readonly database: Statements,
    private readonly store: JobMoveStore,
    private readonly metrics: Metrics,
    { databaseTimeoutMs }: { databaseTimeoutMs: number },
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.lagSeconds = Math.max(LEAST_LAG_SECONDS, (TIMEOUTS_OF_LAG * databaseTimeoutMs) / 1_000);
    this.fromMs = nowMs() + this.lagSeconds * 1_000;
  }

  /** @returns 0 unless more may be left: new moves are a few at any moment, and not worth a statement for each. */
  async runOnce(): Promise<number> {
    const position = await this.store.position(this.database);
    if (this.nowMs() < this.fromMs) return 0;
    const moves = await this.store.next(this.database, position, this.lagSeconds, BATCH);
    const last = moves.at(-1);
    if (last === undefined || !(await this.store.advance(this.database, position, last))) return 0;
    for (const move of moves) this.count(move);
    return moves.length === BATCH ? BATCH : 0;
  }

  private count({ status, poolId: pool, errorCode, afterSeconds, reused }: JobMove): void {
    if (reused) return;
    const { startDelaySeconds, jobsFinished } = this.metrics;
    this.metrics.showPool(pool);
    if (isTerminal(status)) jobsFinished.inc({ pool, status, fault: faultOf(status, errorCode) });
    else startDelaySeconds.observe({ pool }, afterSeconds);
  }
}
