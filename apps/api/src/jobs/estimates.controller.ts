import { Controller, Inject } from '@nestjs/common';
import type { Target } from '@millrace/deployments';
import { SubmissionEstimates } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, reuseOf, spendLimitOf, type AnswerOf, type InputOf } from '../endpoints';
import { inTurn, readBytes } from '../http';
import { Destinations } from './destinations';
import { presentEstimate } from './estimate.presenter';
import { postEstimates } from './estimates.endpoints';

/** What submissions would come to. */
@Controller()
export class EstimatesController {
  constructor(
    private readonly destinations: Destinations,
    private readonly estimates: SubmissionEstimates,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'maxWorkflowBytes'>,
  ) {}

  @Serves(postEstimates)
  async estimate({ visitor, request }: InputOf<typeof postEstimates>): Promise<AnswerOf<typeof postEstimates>> {
    const { scope, surface, demo } = visitor;
    const reuse = demo ? null : reuseOf(request);
    const spendLimitMicros = spendLimitOf(request);
    const body = await readBytes(request, this.settings.maxWorkflowBytes);
    const target = (): Promise<Target> => this.destinations.of(surface, { purpose: 'estimate' });
    const asked = { scope, body, target, reuse, spendLimitMicros };
    return presentEstimate(
      await inTurn(request, body, (spend) => this.estimates.estimate({ ...asked, caller: visitor.caller, spend })),
    );
  }
}
