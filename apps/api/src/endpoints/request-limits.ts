import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RATE_WINDOW_SECONDS, RateLimiter, type Caller } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { networkOf } from '../http';
import type { Access } from './access';
import type { CountedAs, QuotaName } from './endpoint';
import type { Visitor } from './visitor';

/** Polls are this much cheaper than other requests: clients never try a refused one again (wire supplement, section 3). */
const POLLS_PER_REQUEST = 10;
/** Answers of jobs hold many links, and many who follow them may share an address. */
const LINKS_PER_REQUEST = 10;
/** A page of a console takes some twenty files, and the people of an office share an address. */
const FILES_PER_REQUEST = 20;
/** What each limit counts, as refusals name it. */
const NOUNS = {
  requests: 'requests',
  polls: 'polls',
  anonymous: 'requests without a credential',
  links: 'requests of links',
  files: "requests of the console's files",
  estimates: 'estimates',
  sends: 'tests, replays and repeated deliveries',
};

interface Quota {
  policy: keyof typeof NOUNS;
  limit: number;
}

const PER_MINUTE = { estimates: 'estimatesPerMinute', sends: 'sendsPerMinute' } as const satisfies Record<
  QuotaName,
  keyof ApiSettings
>;

type Settings = Pick<
  ApiSettings,
  | 'rateLimitPerMinute'
  | 'demoRateLimitPerMinute'
  | 'anonymousRateLimitPerMinute'
  | (typeof PER_MINUTE)[keyof typeof PER_MINUTE]
>;

/**
 * Limits requests in a minute and says so on every answer: of an account over all its keys, or of a network where no key is
 * asked for.
 */
@Injectable()
export class RequestLimits {
  constructor(
    private readonly limiter: RateLimiter,
    @Inject(API_SETTINGS) private readonly settings: Settings,
  ) {}

  /** How many requests an account may send in a minute, with all its keys. */
  of(requestsPerMinute: number | null): Record<CountedAs, number> {
    const requests = requestsPerMinute ?? this.settings.rateLimitPerMinute;
    return { requests, polls: requests * POLLS_PER_REQUEST };
  }

  /**
   * Count a request of an account. Callers without a key share the one account of their surface, so their networks are
   * counted instead.
   *
   * @throws Refusal `rate_limited`.
   */
  take(request: Request, { apiKeyId, accountId, limits }: Caller, countedAs: CountedAs): void {
    const who = apiKeyId === null ? networkOf(request) : accountId;
    this.count(request, who, { policy: countedAs, limit: this.of(limits.requestsPerMinute)[countedAs] });
  }

  /** Count a request of a demo's caller, by its network. @throws Refusal `rate_limited`. */
  takeByAddress(request: Request, countedAs: CountedAs): void {
    const limit = this.of(this.settings.demoRateLimitPerMinute)[countedAs];
    this.count(request, networkOf(request), { policy: countedAs, limit });
  }

  /** Count a request that needs no credential, by its network, apart from all others. @throws Refusal `rate_limited`. */
  takeAnonymous(request: Request, { by }: Access): void {
    const limit = this.settings.anonymousRateLimitPerMinute;
    if (by === 'signed_link')
      this.count(request, networkOf(request), { policy: 'links', limit: limit * LINKS_PER_REQUEST });
    else this.count(request, networkOf(request), { policy: 'anonymous', limit });
  }

  /** Count a request of a console's file, by its network. @throws Refusal `rate_limited`. */
  takeFile(request: Request): void {
    const limit = this.settings.anonymousRateLimitPerMinute * FILES_PER_REQUEST;
    this.count(request, networkOf(request), { policy: 'files', limit });
  }

  /**
   * Count what an account may ask for less often than requests, after its request was counted.
   *
   * @throws Refusal `rate_limited`.
   */
  takeQuota(request: Request, { caller, demo }: Pick<Visitor, 'caller' | 'demo'>, policy: QuotaName): void {
    const who = demo || caller.apiKeyId === null ? networkOf(request) : caller.accountId;
    this.count(request, who, { policy, limit: this.settings[PER_MINUTE[policy]] });
  }

  /** The headers of draft-ietf-httpapi-ratelimit-headers-10: two lists of structured fields (RFC 9651). */
  private count(request: Request, who: string, { policy, limit }: Quota): void {
    const verdict = this.limiter.take(`${policy}:${who}`, limit);
    const { remaining, resetSeconds, retryAfterSeconds } = verdict;
    addToList(request.res, 'RateLimit-Policy', `"${policy}";q=${limit};w=${RATE_WINDOW_SECONDS}`);
    addToList(request.res, 'RateLimit', `"${policy}";r=${remaining};t=${resetSeconds}`);
    if (verdict.allowed) return;
    const message = `There were more than ${limit} ${NOUNS[policy]} in a minute, which is the limit; wait ${retryAfterSeconds} s.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds });
  }
}

/** Nothing of an answer that has begun. */
function addToList(response: Response | undefined, name: string, item: string): void {
  if (response === undefined || response.headersSent) return;
  const before = response.getHeader(name);
  response.setHeader(name, before === undefined ? item : `${String(before)}, ${item}`);
}
