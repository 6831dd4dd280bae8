import { Module } from '@nestjs/common';
import { AuditLogController } from './audit-log.controller';
import { AuditController } from './audit.controller';
import { PoolsController } from './pools.controller';
import { QueuesController } from './queues.controller';
import { WorkerTokensController } from './worker-tokens.controller';
import { WorkersController } from './workers.controller';

/** What operators see and do of the running service: pools, queues, workers, the audit log and the invariants. */
@Module({
  controllers: [
    PoolsController,
    WorkerTokensController,
    QueuesController,
    WorkersController,
    AuditLogController,
    AuditController,
  ],
})
export class OperationsModule {}
