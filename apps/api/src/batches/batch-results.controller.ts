import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller } from '@nestjs/common';
import { Batches, JobPresenter } from '@millrace/jobs';
import { Serves, type InputOf, type Visitor } from '../endpoints';
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
  async results({ visitor, params, request, response }: InputOf<typeof getBatchResults>): Promise<void> {
    const { id } = await this.batches.get(visitor.scope, params.id);
    const begin = (): unknown => response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
    await this.send({ visitor, request, response }, begin, async () => {
      const lines = Readable.from(this.lines(visitor, id), { objectMode: true, highWaterMark: 1 });
      await pipeline(lines, response).catch((error: NodeJS.ErrnoException) => {
        // A client may well stop reading; that is no failure of ours.
        if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
      });
    });
  }

  @Serves(getBatchArchive)
  async outputs({ visitor, params, request, response }: InputOf<typeof getBatchArchive>): Promise<void> {
    const { id } = await this.batches.get(visitor.scope, params.id);
    const begin = (): void => {
      response.setHeader('Content-Type', 'application/zip');
      response.setHeader('Content-Disposition', `attachment; filename="batch-${id}.zip"`);
    };
    await this.send({ visitor, request, response }, begin, () => this.archive.send(response, visitor.scope, id));
  }

  /** An answer that holds a place of its account while its client reads. @throws Refusal `too_many_streams`. */
  private async send(
    { visitor, request, response }: Pick<InputOf<typeof getBatchResults>, 'visitor' | 'request' | 'response'>,
    begin: () => unknown,
    send: () => Promise<void>,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      begin();
      response.end();
      return;
    }
    await this.open.sending(
      response,
      holderOf(visitor.caller, visitor.scope.deploymentId, getBatchResults.access.scope),
      () => {
        begin();
        return send();
      },
    );
  }

  private async *lines(visitor: Visitor, id: string): AsyncGenerator<string> {
    for await (const job of this.batches.eachJob(visitor.scope, id)) {
      yield `${JSON.stringify(presentBatchJob(this.presenter, visitor, job))}\n`;
    }
  }
}
