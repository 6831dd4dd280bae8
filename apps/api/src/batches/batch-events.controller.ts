import { Controller } from '@nestjs/common';
import { BatchStreams, Batches, presentBatch, type BatchStreamItem } from '@millrace/jobs';
import { Serves, type InputOf, type Visitor } from '../endpoints';
import { Streams, answerHead, holderOf, type StreamEvent } from '../streams';
import { getBatchEvents } from './batches.endpoints';

/** The event stream of a batch, with the conventions of a job's. */
@Controller()
export class BatchEventsController {
  constructor(
    private readonly batchStreams: BatchStreams,
    private readonly batches: Batches,
    private readonly streams: Streams,
  ) {}

  @Serves(getBatchEvents)
  async events({ visitor, params, request, response }: InputOf<typeof getBatchEvents>): Promise<void> {
    const { caller, scope } = visitor;
    if (request.method === 'HEAD') {
      await this.batches.assertThere(scope, params.id);
      return answerHead(response);
    }
    await this.streams.serve(
      response,
      holderOf(caller, scope.deploymentId, getBatchEvents.access.scope),
      (signal) => this.batchStreams.open(scope, params.id, signal),
      (item) => present(visitor, item),
    );
  }
}

function present({ surface }: Pick<Visitor, 'surface'>, item: BatchStreamItem): StreamEvent {
  if (item.kind === 'job') {
    const { jobId, index, status, completedAt } = item.job;
    const data = { id: jobId, batch_index: index, status, completed_at: completedAt.toISOString() };
    return { event: 'job', data };
  }
  const batch = presentBatch(surface, item.batch);
  if (item.kind === 'status') return { event: 'status', data: batch };
  const { counts, progress, charged_micros: charged, retry_count: retries } = batch;
  const cost = charged === undefined ? {} : { charged_micros: charged };
  return { event: 'progress', data: { counts, progress, ...cost, retry_count: retries } };
}
