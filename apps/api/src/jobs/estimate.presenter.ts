import type { Estimate } from '@millrace/contracts';
import type { SubmissionEstimate } from '@millrace/jobs';

/** What an estimate looks like on the wire. */
export function presentEstimate({ refusal, terms, times, costMicros, place, reuse }: SubmissionEstimate): Estimate {
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
    reuse: reuse && { job_id: reuse.reusedFrom, reason: reuse.reason },
  };
}
