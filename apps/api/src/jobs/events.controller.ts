import { Controller } from '@nestjs/common';
import { JobPresenter, JobReads, JobStreams, type StreamItem } from '@millrace/jobs';
import { Serves, type InputOf, type Visitor } from '../endpoints';
import { Streams, answerHead, holderOf, type StreamEvent } from '../streams';
import { getJobEvents } from './events.endpoints';
import { statusEventOf } from './status-event';

/** A job's event stream (contract, section 6; wire supplement, section 3). */
@Controller()
export class EventsController {
  constructor(
    private readonly jobStreams: JobStreams,
    private readonly reads: JobReads,
    private readonly presenter: JobPresenter,
    private readonly streams: Streams,
  ) {}

  @Serves(getJobEvents)
  async events({ visitor, params, request, response }: InputOf<typeof getJobEvents>): Promise<void> {
    const { caller, scope } = visitor;
    if (request.method === 'HEAD') {
      await this.reads.get(scope, params.id);
      return answerHead(response);
    }
    await this.streams.serve(
      response,
      holderOf(caller, scope.deploymentId, getJobEvents.access.scope),
      (signal) => this.jobStreams.open(scope, params.id, signal),
      (item) => this.present(visitor, item),
    );
  }

  private present(visitor: Visitor, item: StreamItem): StreamEvent {
    switch (item.kind) {
      case 'status':
        return { event: 'status', data: statusEventOf(this.presenter.present(visitor, item.job, item.place)) };
      case 'output':
        return { event: 'output', data: this.presenter.output(visitor.surface, item.job, item.output) };
      case 'progress':
        return { event: 'progress', data: item.progress };
      case 'preview':
        return { event: 'preview', data: item.preview };
    }
  }
}
