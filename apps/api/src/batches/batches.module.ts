import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs';
import { BatchArchive } from './batch-archive';
import { BatchEventsController } from './batch-events.controller';
import { BatchResultsController } from './batch-results.controller';
import { BatchesController } from './batches.controller';

/** Batches of jobs of a surface, to its callers. */
@Module({
  imports: [JobsModule],
  controllers: [BatchesController, BatchResultsController, BatchEventsController],
  providers: [BatchArchive],
})
export class BatchesModule {}
