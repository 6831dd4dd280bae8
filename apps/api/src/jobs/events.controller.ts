import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { JobFeed, JobReads, type FeedItem } from '@millrace/jobs';
import { Callers } from '../endpoints/callers';
import { JobPresenter } from './job.presenter';
import { contextOf } from '../http/request-context';
import { STREAM_HEADERS, Streams, type StreamEvent } from '../http/streams';
import type { Surface } from '../http/surface';

/** A job's event stream (contract, section 6; wire supplement, section 3). */
@Controller('api/v2/jobs')
export class EventsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(JobFeed) private readonly feed: JobFeed,
    @Inject(JobReads) private readonly reads: JobReads,
    @Inject(JobPresenter) private readonly presenter: JobPresenter,
    @Inject(Streams) private readonly streams: Streams,
  ) {}

  @Get(':id/events')
  async events(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { caller, scope } = await this.callers.admit(request, 'jobs:read');
    if (request.method === 'HEAD') {
      await this.reads.get(scope, id);
      response.writeHead(200, STREAM_HEADERS).end();
      return;
    }
    const { surface } = contextOf(request);
    const account = { id: caller.accountId, limit: caller.limits.streamLimit };
    await this.streams.serve(
      response,
      account,
      (signal) => this.feed.follow(scope, id, signal),
      (item) => this.present(surface, item),
    );
  }

  private present(surface: Surface, item: FeedItem): StreamEvent {
    switch (item.kind) {
      case 'status':
        return { event: 'status', data: this.presenter.present(surface, item.job, item.place) };
      case 'output':
        return { event: 'output', data: this.presenter.output(surface, item.job, item.output) };
      case 'progress':
        return { event: 'progress', data: item.progress };
      case 'preview':
        return { event: 'preview', data: item.preview };
    }
  }
}
