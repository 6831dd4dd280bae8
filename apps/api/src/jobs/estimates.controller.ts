import { Controller, Inject } from '@nestjs/common';
import type { Estimate } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import { SubmissionEstimates, type SubmissionEstimate } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { inTurn, readBytes } from '../http';
import { Destinations } from './destinations';
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
    const { caller, scope, surface } = visitor;
    const body = await readBytes(request, this.settings.maxWorkflowBytes);
    const target = (): Promise<Target> => this.destinations.of(surface, { wake: false });
    return presentEstimate(await inTurn(request, body, () => this.estimates.estimate({ caller, scope, body, target })));
  }
}

function presentEstimate({ refusal, terms, times, costMicros, place }: SubmissionEstimate): Estimate {
  return {
    accepted: refusal === null,
    error: refusal && { code: refusal.code, message: refusal.message, details: refusal.details },
    price_micros_per_second: terms && Number(terms.priceMicrosPerSecond),
    hold_micros: terms && Number(terms.holdMicros),
    known_runs: times?.runs ?? 0,
    run_ms: times && { p50: times.p50Ms, p90: times.p90Ms },
    cost_micros: costMicros && { p50: Number(costMicros.p50), p90: Number(costMicros.p90) },
    queue_position: place && place.position,
    wait_ms: place && place.waitMs,
  };
}
