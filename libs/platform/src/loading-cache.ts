import { LRUCache } from 'lru-cache';

export interface LoadingCacheOptions<V> {
  /** Answers kept at most; the one used longest ago goes first. */
  max: number;
  /** Time to live of an answer, from the beginning of its load. Absent: answers do not age. */
  ttlMs?: number;
  /** Where an answer comes from. A failure is not kept: the next request asks again. */
  load: (key: string) => Promise<V>;
  /** A shorter time to live for this answer; 0 keeps it from being cached. */
  ttlMsOf?: (answer: V) => number;
  /** Milliseconds on a clock that only goes forward. */
  now?: () => number;
}

/**
 * A cache that loads what it lacks. Requests for a key that is being loaded share that load.
 *
 * It keeps the promise, from the moment at which the load began. So an answer is never older than its time to live, also
 * after a slow load, and a load that hangs is shared for no longer than that. (`fetchMethod` of lru-cache counts from the
 * answer, shares a load for as long as it takes, and rejects those who wait for it when the entry is deleted.)
 */
export class LoadingCache<V> {
  private readonly answers: LRUCache<string, Promise<V>>;
  private readonly arrived = new WeakMap<Promise<V>, V>();
  private readonly now: () => number;

  constructor(private readonly options: LoadingCacheOptions<V>) {
    const { max, ttlMs, now = () => performance.now() } = options;
    this.now = now;
    this.answers = new LRUCache({ max, ttl: ttlMs, ttlResolution: 0, perf: { now } });
  }

  /** The answer for a key, from the cache where it has one. */
  get(key: string): Promise<V> {
    return this.answers.get(key) ?? this.reload(key);
  }

  /** Whether `get` would not load: the answer is there, or on its way. */
  has(key: string): boolean {
    return this.answers.has(key);
  }

  /** The answer for a key where it is there now. Never loads. */
  peek(key: string): V | undefined {
    const answer = this.answers.peek(key);
    return answer === undefined ? undefined : this.arrived.get(answer);
  }

  /** Load now, past the cache; the answer replaces the cached one. */
  reload(key: string): Promise<V> {
    const askedAt = this.now();
    const answer = this.options.load(key);
    this.answers.set(key, answer);
    answer.then(
      (value) => {
        this.arrived.set(answer, value);
        this.shorten(key, answer, askedAt, value);
      },
      () => this.drop(key, answer),
    );
    return answer;
  }

  delete(key: string): void {
    this.answers.delete(key);
  }

  clear(): void {
    this.answers.clear();
  }

  private shorten(key: string, answer: Promise<V>, askedAt: number, value: V): void {
    const { ttlMs = Number.POSITIVE_INFINITY, ttlMsOf } = this.options;
    if (ttlMsOf === undefined || this.answers.peek(key) !== answer) return;
    const ttl = Math.floor(ttlMsOf(value));
    if (ttl < 1) this.drop(key, answer);
    else if (ttl < ttlMs) this.answers.set(key, answer, { ttl, start: askedAt });
  }

  /** Unless another answer has taken its place. */
  private drop(key: string, answer: Promise<V>): void {
    if (this.answers.peek(key) === answer) this.answers.delete(key);
  }
}
