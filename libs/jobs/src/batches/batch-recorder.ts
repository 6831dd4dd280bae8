import type { Statements } from '@millrace/database';
import type { LabelCount } from '../labels';
import type { SpendStanding } from '../spend';
import type { JobDraft } from '../submission';
import { LOCK_WAIT_MS } from './batch-groups';
import type { BatchJobStore, WrittenJobs } from './batch-job.store';

/** Records the jobs of a batch, group by group, so that its other jobs wait for the last statement at most. */
export class BatchRecorder {
  constructor(private readonly store: Pick<BatchJobStore, 'open' | 'assertAffordable' | 'write' | 'count'>) {}

  /** To be done before the transaction of `record`. @param draft one of the jobs. */
  async prepare(statements: Statements, draft: JobDraft): Promise<void> {
    await this.store.open(statements, draft);
  }

  /**
   * Record all jobs, or none where the transaction ends with what is thrown.
   *
   * @param jobs how many there are in all groups.
   * @returns how much of the account's caps is used, once that was warned of.
   * @throws RefusedError, ConstraintError.
   */
  async record(
    tx: Statements,
    jobs: number,
    groups: Iterable<readonly JobDraft[]> | AsyncIterable<readonly JobDraft[]>,
  ): Promise<SpendStanding[]> {
    let one: JobDraft | null = null;
    const all = new WrittenSum();
    for await (const drafts of groups) {
      const [first] = drafts;
      if (one === null && first !== undefined) {
        one = first;
        await this.store.open(tx, one);
        await this.store.assertAffordable(tx, one, jobs);
      }
      all.add(await this.store.write(tx, drafts, LOCK_WAIT_MS));
    }
    return one === null ? [] : this.store.count(tx, one, all.sum());
  }
}

/** What was written by several statements. */
class WrittenSum {
  private jobs = 0;
  private firstId: string | null = null;
  private holdMicros = 0n;
  private readonly counts = new Map<string, { count: LabelCount; holdMicros: bigint }>();

  add({ jobs, firstId, holdMicros: held, counts }: WrittenJobs): void {
    this.jobs += jobs;
    this.holdMicros += BigInt(held);
    if (this.firstId === null || firstId < this.firstId) this.firstId = firstId;
    for (const count of counts) {
      const key = JSON.stringify([count.label, count.value]);
      const before = this.counts.get(key);
      const holdMicros = (before?.holdMicros ?? 0n) + BigInt(count.holdMicros);
      this.counts.set(key, { count: { ...count, jobs: (before?.count.jobs ?? 0) + count.jobs }, holdMicros });
    }
  }

  sum(): WrittenJobs {
    const counts = Array.from(this.counts.values(), ({ count, holdMicros }) => ({
      ...count,
      holdMicros: String(holdMicros),
    }));
    return { jobs: this.jobs, firstId: this.firstId ?? '', holdMicros: String(this.holdMicros), counts };
  }
}
