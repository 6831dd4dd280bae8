import { Injectable } from '@nestjs/common';
import type { StatusEvent } from '@millrace/contracts';
import { JobPolls, JobPresenter } from '@millrace/jobs';
import type { Visitor } from '../endpoints';

/** How many outputs of a job an answer shows, unless it is asked for others. */
export const SHOWN_OUTPUTS = 10;

/** Shows jobs as a poll does, with the first of their outputs. */
@Injectable()
export class JobViews {
  constructor(
    private readonly polls: JobPolls,
    private readonly presenter: JobPresenter,
  ) {}

  /** @throws Refusal `not_found`, `rate_limited`. */
  async read(visitor: Visitor, id: string): Promise<StatusEvent> {
    const { job, place } = await this.polls.read(visitor.scope, id);
    const outputs = job.outputs.slice(0, SHOWN_OUTPUTS);
    const view = this.presenter.present(visitor, { ...job, outputs }, place);
    const leftOut = job.outputs.length - outputs.length;
    return leftOut === 0 ? view : { ...view, outputs_left_out: leftOut };
  }
}
