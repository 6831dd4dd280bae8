import type { Statements } from '@millrace/database';
import type { PoolStore } from '@millrace/deployments';
import type { LaneProducer } from '@millrace/messaging';
import type { Auditor, Finding } from '@millrace/platform';
import { findEnded } from './job-audit.store';

const BATCH = 500;

/**
 * Looks for messages in the lanes whose job has ended. While work goes on there are some: a job that is canceled on its way
 * leaves one, and a worker drops it when its turn comes. After a drain there are none.
 */
export class LaneAudit implements Auditor {
  readonly name = 'lanes';

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<PoolStore, 'listIds'>,
    private readonly lanes: Pick<LaneProducer, 'list'>,
  ) {}

  /** @throws when Redis is away. */
  async *findings(): AsyncGenerator<Finding> {
    for (const poolId of await this.pools.listIds(this.database)) {
      for (const kind of ['waiting', 'taken'] as const) yield* this.findingsOf(poolId, kind);
    }
  }

  private async *findingsOf(poolId: string, kind: 'waiting' | 'taken'): AsyncGenerator<Finding> {
    for (let from = 0; ; from += BATCH) {
      const messages = await this.lanes.list(poolId, kind, from, BATCH);
      if (messages.length === 0) return;
      const ended = await findEnded(
        this.database,
        messages.map(({ jobId }) => jobId),
      );
      for (const { jobId, attempt } of messages) {
        if (!ended.has(jobId)) continue;
        const place = kind === 'waiting' ? 'waits in the lane of' : 'was taken by a worker of';
        const detail = `the message of attempt ${attempt} ${place} pool ${poolId}, and the job has ended`;
        yield { check: 'no-message-of-an-ended-job', subject: jobId, detail };
      }
    }
  }
}
