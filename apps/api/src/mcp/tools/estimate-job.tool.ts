import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { SubmissionEstimates } from '@millrace/jobs';
import { RequestLimits } from '../../endpoints';
import { inTurn } from '../../http';
import { Destinations, presentEstimate } from '../../jobs';
import { graphBody, graphInput } from '../graph-body';
import { SPEND_LIMIT_ARGUMENT, spendLimitInput, spendLimitOfCall } from '../spend-limit';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const definition = {
  name: 'estimate_job',
  title: 'Check a graph and estimate its job',
  description:
    'Checks a graph and says what running it would come to, without running it: accepted or not, with every fault by node and input; ' +
    'what is held at once (hold_micros); from earlier jobs the probable cost and run time; and the wait. One credit is 1,000,000 ' +
    'micro-credits. spend_limit_micros is the most that run_job lets a job of this connection cost.',
  scope: 'jobs:write',
  input: z.strictObject({ workflow: graphInput, spend_limit_micros: spendLimitInput }),
  annotations: { readOnlyHint: true },
} as const;

/** Estimates a submission. */
@Injectable()
export class EstimateJobTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(
    private readonly destinations: Destinations,
    private readonly estimates: SubmissionEstimates,
    private readonly limits: RequestLimits,
  ) {}

  async run(input: z.output<typeof definition.input>, call: ToolCall): Promise<ToolAnswer> {
    const { visitor, request } = call;
    const { scope, surface } = visitor;
    this.limits.takeQuota(request, visitor, 'estimates');
    const body = graphBody(call);
    const target = () => this.destinations.of(surface, { purpose: 'estimate' });
    const spendLimitMicros = spendLimitOfCall(call, input.spend_limit_micros);
    const asked = { scope, body, target, spendLimitMicros, spendLimitField: SPEND_LIMIT_ARGUMENT };
    const estimate = await inTurn(request, body, (spend) =>
      this.estimates.estimate({ ...asked, caller: visitor.caller, spend }),
    );
    return { value: { ...presentEstimate(estimate), spend_limit_micros: Number(spendLimitMicros) } };
  }
}
