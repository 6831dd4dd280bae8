import type { Database } from '@millrace/database';
import { PoolStore } from '@millrace/deployments';
import { LaneProducer, type RedisConnections } from '@millrace/messaging';
import { JobAudit } from './job-audit';
import { LaneAudit } from './lane-audit';

/** What a process has that proves what always holds of jobs. */
export interface JobAudits {
  jobs: JobAudit;
  /** Finds messages of ended jobs while work goes on: it is meant for a system at rest. */
  lanes: LaneAudit;
  close(): Promise<void>;
}

/** Wire the audits of jobs and lanes. */
export function composeAudits({ database, redis }: { database: Database; redis: RedisConnections }): JobAudits {
  const lanes = new LaneProducer(redis.producer());
  return {
    jobs: new JobAudit(database),
    lanes: new LaneAudit(database, new PoolStore(), lanes),
    close: () => lanes.close(),
  };
}
