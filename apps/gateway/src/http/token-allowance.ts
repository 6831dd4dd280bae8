import { SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { RateLimiter } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';

/**
 * What becomes of work where requests of a kind are refused.
 *
 * - `vital`: heartbeats, reports and ends, without which a lease runs out or a worker counts as lost.
 * - `usual`: sent again when the gateway says.
 * - `lossy`: events, of which a later one says more.
 */
type Urgency = 'vital' | 'usual' | 'lossy';

/** The part of the budget of usual requests that lossy ones may use up: claims and bytes have the rest for themselves. */
const LOSSY_SHARE = 0.75;

const URGENCY = 'millrace:urgency';

/** Note on a handler that work is lost where its requests are refused. */
export const Vital = (): MethodDecorator => SetMetadata(URGENCY, 'vital' satisfies Urgency);

/** Note on a handler that its requests may be lost. */
export const Lossy = (): MethodDecorator => SetMetadata(URGENCY, 'lossy' satisfies Urgency);

/**
 * How much the workers of one token may ask for in a minute. Vital requests have a budget apart, so that no others keep a lease from being
 * renewed; of the others lossy ones are refused first.
 */
export class TokenAllowance {
  constructor(
    private readonly limiter: Pick<RateLimiter, 'take'>,
    private readonly requestsPerMinute: number,
  ) {}

  /**
   * Count a request of a token.
   *
   * @param hash of the token.
   * @throws Refusal `rate_limited`.
   */
  take(hash: string, context: Pick<ExecutionContext, 'getHandler'>): void {
    const urgency = (Reflect.getMetadata(URGENCY, context.getHandler()) ?? 'usual') as Urgency;
    const limit = Math.floor(this.requestsPerMinute * (urgency === 'lossy' ? LOSSY_SHARE : 1));
    const budget = urgency === 'vital' ? `worker-token-vital:${hash}` : `worker-token:${hash}`;
    const { allowed, retryAfterSeconds } = this.limiter.take(budget, limit);
    if (allowed) return;
    const what = {
      vital: 'heartbeats, reports and ends',
      usual: 'requests',
      lossy: 'requests, of which events are refused first,',
    };
    const message = `The workers of this token send more than ${limit} ${what[urgency]} per minute; send this again later.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds });
  }
}
