import type { OutgoingHttpHeaders } from 'node:http';
import { Controller } from '@nestjs/common';
import { Batches, JobPresenter } from '@millrace/jobs';
import { Serves, type InputOf, type Visitor } from '../endpoints';
import { endHead, sendStream, zipHeaders } from '../http';
import { OpenStreams, holderOf } from '../streams';
import { BatchArchive } from './batch-archive';
import { presentBatchJob } from './batch.presenter';
import { getBatchArchive, getBatchResults } from './batches.endpoints';

/** Everything that a batch has made, in one answer. */
@Controller()
export class BatchResultsController {
  constructor(
    private readonly batches: Batches,
    private readonly archive: BatchArchive,
    private readonly presenter: JobPresenter,
    private readonly open: OpenStreams,
  ) {}

  @Serves(getBatchResults)
  async results({ visitor, params, response }: InputOf<typeof getBatchResults>): Promise<void> {
    const { id } = params;
    await this.batches.assertThere(visitor.scope, id);
    const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8' };
    await this.send({ visitor, response }, headers, () =>
      sendStream(response, { headers, parts: this.lines(visitor, id) }),
    );
  }

  @Serves(getBatchArchive)
  async outputs({ visitor, params, response }: InputOf<typeof getBatchArchive>): Promise<void> {
    const { id } = params;
    await this.batches.assertThere(visitor.scope, id);
    const headers = zipHeaders(`batch-${id}.zip`);
    await this.send({ visitor, response }, headers, () => this.archive.send(response, headers, visitor.scope, id));
  }

  /** An answer that holds a place of its account while its client reads. @throws Refusal `too_many_streams`. */
  private async send(
    { visitor, response }: Pick<InputOf<typeof getBatchResults>, 'visitor' | 'response'>,
    headers: OutgoingHttpHeaders,
    send: () => Promise<void>,
  ): Promise<void> {
    if (endHead(response, headers)) return;
    const holder = holderOf(visitor.caller, visitor.scope.deploymentId, getBatchResults.access.scope);
    await this.open.sending(response, holder, send);
  }

  private async *lines(visitor: Visitor, id: string): AsyncGenerator<string> {
    for await (const job of this.batches.eachJob(visitor.scope, id)) {
      yield `${JSON.stringify(presentBatchJob(this.presenter, visitor, job))}\n`;
    }
  }
}
