import { Injectable, Logger } from '@nestjs/common';
import { z } from 'zod';
import { IDEMPOTENCY_KEY, REUSE_MODES, Refusal, isTerminal } from '@millrace/contracts';
import { SubmissionService, type AcceptedJob } from '@millrace/jobs';
import { currentTraceparent } from '@millrace/platform';
import { claimedKey, spendWarning } from '../../endpoints';
import { inTurn, senderOf } from '../../http';
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
    `first ${SHOWN_OUTPUTS} outputs as read_outputs does, which has the others (outputs_left_out). If it has not ended, go on with wait_for_job; notice says why that is, where this call cannot wait or show more. The job runs on when the connection breaks: its id ` +
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
  private readonly logger = new Logger('MCP');

  constructor(
    private readonly destinations: Destinations,
    private readonly submissions: SubmissionService,
    private readonly watch: JobWatch,
    private readonly views: JobViews,
    private readonly content: OutputContent,
  ) {}

  async run(input: Input, call: ToolCall): Promise<ToolAnswer> {
    const accepted = await this.submit(input, call);
    const [, warning] = spendWarning(accepted.spend) ?? [];
    const warned = warning === undefined ? {} : { spend_warning: warning };
    const otherwise = (error: unknown): object => ({ ...this.recorded(accepted, call, error), ...warned });
    // The job is recorded: a model that was refused now would submit it again, and it would be charged twice.
    try {
      const { value, content } = await this.follow(accepted, input.wait_seconds, call);
      return { value: { ...value, ...warned }, content, otherwise };
    } catch (error) {
      return { value: otherwise(error) };
    }
  }

  /** Wait for the end of a job, and show it. @throws what a wait and a reading throw. */
  private async follow(
    { job: { id, status } }: AcceptedJob,
    seconds: number,
    call: ToolCall,
  ): Promise<Required<Pick<ToolAnswer, 'value' | 'content'>>> {
    await call.progress.report(0, `Job ${id} is recorded, and runs on if this connection breaks.`, true);
    if (!isTerminal(status)) await this.watch.wait(call, id, seconds);
    const value = await this.views.read(call.visitor, id);
    return { value, content: isTerminal(value.status) ? await this.content.blocksOf(call, value.outputs) : [] };
  }

  /** A job of which no more can be said now, and why. */
  private recorded({ job: { id, status } }: AcceptedJob, { visitor }: ToolCall, error: unknown): object {
    let reason = `upstream_error (request id ${visitor.requestId})`;
    if (error instanceof Refusal) reason = `${error.code}: ${error.message}`;
    else this.logger.error(`job ${id} was not shown in request ${visitor.requestId}`, (error as Error).stack);
    const notice =
      'This call submitted the job and cannot say more of it now. Do not submit it again: go on with wait_for_job, if that is refused ' +
      `with wait_seconds 0. The reason is ${reason}`;
    return { id, status, notice };
  }

  private async submit(input: Input, call: ToolCall): Promise<AcceptedJob> {
    const { visitor, request } = call;
    const { scope, surface } = visitor;
    const { idempotency_key: key, reuse } = input;
    const body = graphBody(call, input.metadata);
    const submission = {
      scope,
      body,
      idempotencyKey: claimedKey(visitor.caller, key),
      traceparent: currentTraceparent(),
      reuse: reuse === 'off' ? null : reuse,
      spendLimitMicros: spendLimitOfCall(call, input.spend_limit_micros),
      spendLimitField: SPEND_LIMIT_ARGUMENT,
      target: () => this.destinations.of(surface),
      sender: senderOf(request),
    };
    return inTurn(request, body, (spend) =>
      this.submissions.submit({
        ...submission,
        spend,
        // With the limits of when it is recorded.
        get caller() {
          return visitor.caller;
        },
      }),
    );
  }
}
