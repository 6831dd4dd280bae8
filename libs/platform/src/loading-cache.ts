import { LRUCache } from 'lru-cache';

export interface LoadingCacheOptions<V> {
  /** Answers kept at most; the one used longest ago goes first. */
  max: number;
  /** Time to live of an answer, from the beginning of its load. Absent: answers do not age. */
  ttlMs?: number;
  /**
   * An answer that is asked for after so long is loaded again, beside the one who asks, who gets the old one: what is asked for often is
   * never waited for. Absent: it is loaded again when it is too old. Only for answers whose load may be repeated at will.
   */
  refreshAfterMs?: number;
  /** Where an answer comes from. A failure is not kept: the next request asks again. */
  load: (key: string) => Promise<V>;
  /** A shorter time to live for this answer; 0 keeps it from being cached. */
  ttlMsOf?: (answer: V) => number;
  /** What an answer that has arrived weighs, and how much all together may: those used longest ago go first, and a heavier one is not kept. */
  weight?: { of: (answer: V) => number; most: number };
  /** Milliseconds on a clock that only goes forward. */
  now?: () => number;
}

/** What is kept of a key. */
interface Entry<V> {
  answer: Promise<V>;
  askedAt: number;
  /** Once it is there. */
  arrived: { value: V } | null;
  /** When it is loaded again beside those who ask. */
  refreshAt: number;
}

/**
 * A cache that loads what it lacks. Requests for a key that is being loaded share that load.
 *
 * It keeps the promise, from the moment at which the load began. So an answer is never older than its time to live, also
 * after a slow load, and a load that hangs is shared for no longer than that. (`fetchMethod` of lru-cache counts from the
 * answer, shares a load for as long as it takes, and rejects those who wait for it when the entry is deleted.)
 */
export class LoadingCache<V> {
  private readonly entries: LRUCache<string, Entry<V>>;
  private readonly now: () => number;

  constructor(private readonly options: LoadingCacheOptions<V>) {
    const { max, ttlMs, weight, now = () => performance.now() } = options;
    this.now = now;
    const weighed = weight && { maxSize: weight.most, sizeCalculation: (entry: Entry<V>) => this.weightOf(entry) };
    this.entries = new LRUCache({ max, ttl: ttlMs, ttlResolution: 0, perf: { now }, ...weighed });
  }

  /** The answer for a key, from the cache where it has one. */
  get(key: string): Promise<V> {
    const entry = this.entries.get(key);
    if (entry === undefined) return this.reload(key);
    if (entry.arrived !== null && this.now() > entry.refreshAt) this.refresh(key, entry);
    return entry.answer;
  }

  /** Whether `get` would not begin a load that it waits for: the answer is there, or on its way. */
  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** The answer for a key where it is there now. Never loads. */
  peek(key: string): V | undefined {
    return this.entries.peek(key)?.arrived?.value;
  }

  /** Load now, past the cache; the answer replaces the cached one. */
  reload(key: string): Promise<V> {
    const entry = this.load(key);
    this.entries.set(key, entry);
    entry.answer.then(
      (value) => {
        const { ttlMsOf, weight } = this.options;
        if ((ttlMsOf ?? weight) !== undefined && this.entries.peek(key) === entry) this.keep(key, entry, value);
      },
      () => {
        // Unless another answer has taken its place.
        if (this.entries.peek(key) === entry) this.entries.delete(key);
      },
    );
    return entry.answer;
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  private weightOf({ arrived }: Entry<V>): number {
    return Math.max(1, Math.ceil(arrived === null ? 1 : (this.options.weight?.of(arrived.value) ?? 1)));
  }

  private load(key: string): Entry<V> {
    const { load, refreshAfterMs = Number.POSITIVE_INFINITY } = this.options;
    const askedAt = this.now();
    const entry: Entry<V> = { answer: load(key), askedAt, arrived: null, refreshAt: askedAt + refreshAfterMs };
    entry.answer.then(
      (value) => (entry.arrived = { value }),
      () => undefined,
    );
    return entry;
  }

  /** One load at a time. Where it fails the old answer stays, and the next who asks tries again. */
  private refresh(key: string, old: Entry<V>): void {
    const { refreshAt } = old;
    old.refreshAt = Number.POSITIVE_INFINITY;
    const entry = this.load(key);
    entry.answer.then(
      (value) => {
        // Not where the old one was deleted or replaced meanwhile: what did that may know of something newer.
        if (this.entries.peek(key) === old) this.keep(key, entry, value);
      },
      () => (old.refreshAt = refreshAt),
    );
  }

  /** For as long as an answer that has arrived may be kept. */
  private keep(key: string, entry: Entry<V>, value: V): void {
    const { ttlMs = Number.POSITIVE_INFINITY, ttlMsOf } = this.options;
    const ttl = Math.min(ttlMs, Math.floor(ttlMsOf?.(value) ?? ttlMs));
    if (ttl < 1) this.entries.delete(key);
    // What is put again is weighed only where it is another object.
    else this.entries.set(key, { ...entry }, Number.isFinite(ttl) ? { ttl, start: entry.askedAt } : {});
  }
}
