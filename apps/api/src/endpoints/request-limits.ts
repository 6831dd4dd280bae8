import { isIPv6 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { RATE_WINDOW_SECONDS, RateLimiter, type Caller } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { addressOf } from '../http';

/** Polls are this much cheaper than other requests: clients never try a refused one again (wire supplement, section 3). */
const POLLS_PER_REQUEST = 10;
const POLL = /^\/api\/v2\/jobs\/[^/]+\/?$/;

/** Limits the requests of one caller in a minute, and says so on every answer. */
@Injectable()
export class RequestLimits {
  constructor(
    private readonly limiter: RateLimiter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'rateLimitPerMinute' | 'demoRateLimitPerMinute'>,
  ) {}

  /** How many requests each key of an account may send in a minute. */
  of(requestsPerMinute: number | null): { requests: number; polls: number } {
    const requests = requestsPerMinute ?? this.settings.rateLimitPerMinute;
    return { requests, polls: requests * POLLS_PER_REQUEST };
  }

  /**
   * Count a request of a caller with a credential, or of the one account of an open surface.
   *
   * @throws Refusal `rate_limited`.
   */
  take(request: Request, caller: Caller): void {
    this.count(request, caller.apiKeyId ?? caller.accountId, this.of(caller.limits.requestsPerMinute));
  }

  /** Count a request of a caller without a credential, by its address. @throws Refusal `rate_limited`. */
  takeByAddress(request: Request): void {
    this.count(request, networkOf(addressOf(request)), this.of(this.settings.demoRateLimitPerMinute));
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

/** The address, or of IPv6 its first 64 bits: one customer has as many of the rest as it likes. */
export function networkOf(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? 'unknown';
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0') : [];
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}
