import { Injectable } from '@nestjs/common';
import type { StatusEvent } from '@millrace/contracts';
import { JobPolls, JobPresenter, type JobRecord } from '@millrace/jobs';
import type { Visitor } from '../endpoints';
import { statusEventOf } from '../jobs';

/** Shows jobs as a poll does, with as many of their outputs as an event of a stream has. */
@Injectable()
export class JobViews {
  constructor(
    private readonly polls: JobPolls,
    private readonly presenter: JobPresenter,
  ) {}

  /** @throws Refusal `not_found`, `rate_limited`. */
  async read(visitor: Visitor, id: string): Promise<{ job: JobRecord; view: StatusEvent }> {
    const { job, place } = await this.polls.read(visitor.scope, id);
    return { job, view: statusEventOf(this.presenter.present(visitor, job, place)) };
  }
}
