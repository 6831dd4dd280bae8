import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { JobViews, SHOWN_OUTPUTS } from '../job-views';
import { JobWatch, waitSeconds } from '../job-watch';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const definition = {
  name: 'wait_for_job',
  title: 'Wait for a job, or read it',
  description:
    'Waits, with progress, until a job has ended or the time is over, and answers with the job: status, progress, error, the first ' +
    `${SHOWN_OUTPUTS} outputs with links, and what it cost. With wait_seconds 0 it answers at once. read_outputs has what the outputs show, and ` +
    'those that are left out (outputs_left_out).',
  scope: 'jobs:read',
  input: z.strictObject({ id: z.uuid().describe('Id of the job.'), wait_seconds: waitSeconds }),
  annotations: { readOnlyHint: true },
} as const;

/** Waits for a job, or reads it. */
@Injectable()
export class WaitForJobTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly watch: JobWatch,
    private readonly views: JobViews,
  ) {}

  async run({ id, wait_seconds: seconds }: z.output<typeof definition.input>, call: ToolCall): Promise<ToolAnswer> {
    await this.watch.wait(call, id, seconds);
    return { value: await this.views.read(call.visitor, id) };
  }
}
