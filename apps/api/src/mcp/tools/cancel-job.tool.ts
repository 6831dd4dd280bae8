import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { JobReads, Lifecycle } from '@millrace/jobs';
import { JobViews } from '../job-views';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const definition = {
  name: 'cancel_job',
  title: 'Cancel a job',
  description:
    'Stops a job for good. Queued: canceled at once, and nothing is charged. Running: canceling until its engine has stopped, and the ' +
    'engine time used by then is charged. Ended: nothing changes.',
  scope: 'jobs:write',
  input: z.strictObject({ id: z.uuid().describe('Id of the job.') }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
} as const;

/** Cancels a job. */
@Injectable()
export class CancelJobTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly reads: JobReads,
    private readonly lifecycle: Lifecycle,
    private readonly views: JobViews,
  ) {}

  async run({ id: asked }: z.output<typeof definition.input>, { visitor }: ToolCall): Promise<ToolAnswer> {
    const { id } = await this.reads.get(visitor.scope, asked);
    await this.lifecycle.cancel(visitor.scope, id);
    return { value: await this.views.read(visitor, id) };
  }
}
