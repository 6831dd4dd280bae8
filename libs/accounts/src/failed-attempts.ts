import { Refusal } from '@millrace/contracts';
import { BoundedMap, type Logger } from '@millrace/platform';

const WINDOW_MS = 60_000;
/** Networks remembered at most; the one seen longest ago goes first. */
const NETWORKS = 50_000;
/** Lookups in a window that a network has left after its failures: so a valid key without a tag gets in behind a shared address. */
const SPARE_LOOKUPS = 10;
/**
 * Lookups in a window of credentials with our tag that find nothing, after which those of a network with too many failures end. Nobody makes these
 * up, and many users may come from one address after a restart; but who has thousands that ended can send them in turn.
 */
const SPARE_TAGGED_LOOKUPS = 1_000;

/** What one network did in its current window. */
interface Attempts {
  /** When the window began, in milliseconds. */
  since: number;
  failures: number;
  /** Lookups under way: they count like failures until they are answered, so that a burst cannot outrun the count. */
  pending: number;
  spareLookups: number;
  /** Below zero where a burst took more before its failures were known. */
  spareTaggedLookups: number;
}

/**
 * Limits failed authentication by network, on this process. A network with too many failures in a minute is refused with 429
 * and causes no more lookups of what anyone may have made up, apart from a few; valid callers behind the same address pass. The first failure of a network in
 * a minute is logged, never the credential.
 */
export class FailedAttempts {
  private readonly attempts = new BoundedMap<Attempts>(NETWORKS);
  /** Refusals that were counted. */
  private readonly counted = new WeakSet<Refusal>();

  /**
   * @param limitPerMinute failures of one network in a minute before it is refused with 429.
   * @param now milliseconds on any clock.
   */
  constructor(
    private readonly limitPerMinute: number,
    private readonly logger: Logger,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Look up a credential, or what else may be made up, that this process does not know.
   *
   * @param weight of the lookup while it is under way; 0 where all that ask for one thing share its lookup, so that a burst of
   * requests for what exists passes.
   * @throws Refusal 429 `rate_limited`, without a lookup, when the network has none left; what `load` throws.
   */
  async lookUp<T>(network: string, load: () => Promise<T>, weight: 0 | 1 = 1): Promise<T> {
    const attempts = this.of(network);
    if (attempts.failures + attempts.pending >= this.limitPerMinute) {
      if (attempts.spareLookups === 0) throw this.tooMany(attempts);
      attempts.spareLookups -= 1;
    }
    attempts.pending += weight;
    try {
      return await load();
    } finally {
      attempts.pending -= weight;
    }
  }

  /**
   * Look up a credential with our tag that this process does not know. A network with too many failures has a thousand in a minute that find
   * nothing, and any number of those that find something.
   *
   * @param load null where nothing is found.
   * @throws Refusal 429 `rate_limited`, without a lookup, when the network has none left; what `load` throws.
   */
  async lookUpTagged<T>(network: string, load: () => Promise<T | null>): Promise<T | null> {
    const attempts = this.of(network);
    const isOver = attempts.failures + attempts.pending >= this.limitPerMinute;
    if (isOver && attempts.spareTaggedLookups <= 0) throw this.tooMany(attempts);
    attempts.spareTaggedLookups -= 1;
    let isFruitless = false;
    try {
      const found = await load();
      isFruitless = found === null;
      return found;
    } finally {
      // A look-up that failed says nothing about the key.
      if (!isFruitless) attempts.spareTaggedLookups += 1;
    }
  }

  /** Count a failure. @returns what to throw: 401 `unauthorized` with this message, or 429 `rate_limited`. */
  refusal(network: string, message: string): Refusal {
    return this.instead(network, new Refusal('unauthorized', message));
  }

  /** Count a refusal as a failure, unless it was counted. @returns what to throw: the refusal, or 429 `rate_limited`. */
  instead(network: string, refusal: Refusal): Refusal {
    if (refusal.code === 'rate_limited') return refusal;
    const attempts = this.count(network, refusal);
    return attempts.failures > this.limitPerMinute ? this.tooMany(attempts) : refusal;
  }

  /** Count a failure that is answered in another way, by this refusal where it is known: then once, however often it is counted. */
  count(network: string, refusal?: Refusal): Attempts {
    const attempts = this.of(network);
    if (refusal !== undefined) {
      if (this.counted.has(refusal)) return attempts;
      this.counted.add(refusal);
    }
    attempts.failures += 1;
    if (attempts.failures === 1) this.logger.warn({ network }, 'authentication failed');
    return attempts;
  }

  private of(network: string): Attempts {
    const now = this.now();
    const known = this.attempts.get(network);
    if (known !== undefined && now - known.since < WINDOW_MS) return known;
    const attempts = {
      since: now,
      failures: 0,
      pending: 0,
      spareLookups: SPARE_LOOKUPS,
      spareTaggedLookups: SPARE_TAGGED_LOOKUPS,
    };
    this.attempts.set(network, attempts);
    return attempts;
  }

  private tooMany({ since }: Attempts): Refusal {
    const retryAfterSeconds = Math.max(1, Math.ceil((since + WINDOW_MS - this.now()) / 1_000));
    const message = `Too many credentials from this address were not valid; check yours and wait ${retryAfterSeconds} s.`;
    return new Refusal('rate_limited', message, { retryAfterSeconds });
  }
}
