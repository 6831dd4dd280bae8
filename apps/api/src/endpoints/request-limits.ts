import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { RATE_WINDOW_SECONDS, RateLimiter, type Caller } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { networkOf } from '../http';

/** Polls are this much cheaper than other requests: clients never try a refused one again (wire supplement, section 3). */
const POLLS_PER_REQUEST = 10;
const POLL = /^\/api\/v2\/jobs\/[^/]+\/?$/;

/**
 * Limits requests in a minute and says so on every answer: of an account over all its keys, or of a network where no key is
 * asked for.
 */
@Injectable()
export class RequestLimits {
  constructor(
    private readonly limiter: RateLimiter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'rateLimitPerMinute' | 'demoRateLimitPerMinute'>,
  ) {}

  /** How many requests an account may send in a minute, with all its keys. */
  of(requestsPerMinute: number | null): { requests: number; polls: number } {
    const requests = requestsPerMinute ?? this.settings.rateLimitPerMinute;
    return { requests, polls: requests * POLLS_PER_REQUEST };
  }

  /**
   * Count a request of an account. Callers without a key share the one account of their surface, so their networks are
   * counted instead.
   *
   * @throws Refusal `rate_limited`.
   */
  take(request: Request, { apiKeyId, accountId, limits }: Caller): void {
    this.count(request, apiKeyId === null ? networkOf(request) : accountId, this.of(limits.requestsPerMinute));
  }

  /** Count a request of a demo's caller, by its network. @throws Refusal `rate_limited`. */
  takeByAddress(request: Request): void {
    this.count(request, networkOf(request), this.of(this.settings.demoRateLimitPerMinute));
  }

  /** The headers of draft-ietf-httpapi-ratelimit-headers-10: two lists of structured fields (RFC 9651). */
  private count(request: Request, who: string, limits: { requests: number; polls: number }): void {
    const policy = request.method === 'GET' && POLL.test(request.path) ? 'polls' : 'requests';
    const verdict = this.limiter.take(`${policy}:${who}`, limits[policy]);
    const { limit, remaining, resetSeconds, retryAfterSeconds } = verdict;
    request.res?.setHeader('RateLimit-Policy', `"${policy}";q=${limit};w=${RATE_WINDOW_SECONDS}`);
    request.res?.setHeader('RateLimit', `"${policy}";r=${remaining};t=${resetSeconds}`);
    if (verdict.allowed) return;
    const message = `There were more than ${limit} ${policy} in a minute, which is the limit; wait ${retryAfterSeconds} s.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds });
  }
}
