import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { IDEMPOTENCY_KEY, REUSE_MODES, isTerminal } from '@millrace/contracts';
import { SubmissionService, type AcceptedJob } from '@millrace/jobs';
import { currentTraceparent } from '@millrace/platform';
import { claimedKey, spendWarning } from '../../endpoints';
import { inTurn } from '../../http';
import { Destinations } from '../../jobs';
import { graphBody, graphInput, metadataInput } from '../graph-body';
import { JobViews, SHOWN_OUTPUTS } from '../job-views';
import { JobWatch, waitSeconds } from '../job-watch';
import { OutputContent } from '../output-content';
import { SPEND_LIMIT_ARGUMENT, spendLimitInput, spendLimitOfCall } from '../spend-limit';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const definition = {
  name: 'run_job',
  title: 'Run a graph',
  description:
    'Submits a graph as a job, which costs credits, and waits for it with progress. Answers with the job; when it has ended, with its ' +
    `first ${SHOWN_OUTPUTS} outputs as read_outputs does, which has the others (outputs_left_out). If it has not ended, go on with wait_for_job. The job runs on when the connection breaks: its id ` +
    'is in the first progress notification and in list_jobs. Each call makes a job, unless idempotency_key says which one is meant. ' +
    'spend_warning of the answer names the caps of which half or more is used, in percent: ask before you submit more.',
  scope: 'jobs:write',
  input: z.strictObject({
    workflow: graphInput,
    metadata: metadataInput.optional().describe('Labels of the job, by which list_jobs finds it.'),
    spend_limit_micros: spendLimitInput,
    idempotency_key: z
      .string()
      .regex(IDEMPOTENCY_KEY)
      .optional()
      .describe(
        'A second call with the same key is refused and makes no job. Use one to try again after a broken connection.',
      ),
    reuse: z
      .enum([...REUSE_MODES, 'off'])
      .optional()
      .describe(
        'exact: if an earlier job of the account asked for exactly the same, its outputs answer this one at once and at no cost (reused_from). ' +
          'off: it runs. Absent: as the account has set it.',
      ),
    wait_seconds: waitSeconds,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
} as const;

type Input = z.output<typeof definition.input>;

/** Submits a job, and waits for it. */
@Injectable()
export class RunJobTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly destinations: Destinations,
    private readonly submissions: SubmissionService,
    private readonly watch: JobWatch,
    private readonly views: JobViews,
    private readonly content: OutputContent,
  ) {}

  async run(input: Input, call: ToolCall): Promise<ToolAnswer> {
    const { job, spend } = await this.submit(input, call);
    const { id } = job;
    await call.progress.report(0, `Job ${id} is recorded, and runs on if this connection breaks.`, true);
    await this.watch.wait(call, id, input.wait_seconds);
    const view = await this.views.read(call.visitor, id);
    const [, warning] = spendWarning(spend) ?? [];
    const value = warning === undefined ? view : { ...view, spend_warning: warning };
    if (!isTerminal(view.status)) return { value };
    return { value, content: await this.content.blocksOf(call, view.outputs) };
  }

  private async submit(input: Input, call: ToolCall): Promise<AcceptedJob> {
    const { caller, scope, surface } = call.visitor;
    const { idempotency_key: key, reuse } = input;
    const body = graphBody(call, input.metadata);
    const submission = {
      caller,
      scope,
      body,
      idempotencyKey: claimedKey(caller, key),
      traceparent: currentTraceparent(),
      reuse: reuse === 'off' ? null : reuse,
      spendLimitMicros: spendLimitOfCall(call, input.spend_limit_micros),
      spendLimitField: SPEND_LIMIT_ARGUMENT,
      target: () => this.destinations.of(surface),
    };
    return inTurn(call.request, body, () => this.submissions.submit(submission));
  }
}
