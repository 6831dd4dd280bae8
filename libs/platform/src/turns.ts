import { Refusal } from '@millrace/contracts';

/** Of one owner; with its requests per minute this bounds what it can make a process do at one time. */
const WAITING = 100;
/** The longest that a place stays empty after a piece of work, in milliseconds, unless `Rest.mostMs` sets another limit. */
const MAX_REST_MS = 2_000;

/** How long the place that a piece of work leaves stays empty. */
export interface Rest {
  /** Of what the work took. */
  times: number;
  /** Also where no other work of its owner waits, so that asking for one after the other gains nothing. */
  isAlways: boolean;
  /** However long the work took; two seconds where absent. */
  mostMs?: number;
}

/** Who takes turns with one another: the work of one account, of one caller (an account, a worker token or an address), or of all. */
type Whose = 'account' | 'caller' | 'all';

/** What a refusal says of those that wait, and of what to do: work of others says nothing of when it ends. */
const WAITERS: Record<Whose, { of: string; cure: string; retrySeconds: number }> = {
  account: { of: 'of this account', cure: 'wait for their answers', retrySeconds: 1 },
  caller: { of: 'of this caller', cure: 'wait for their answers', retrySeconds: 1 },
  all: { of: 'of all callers', cure: 'send this again later', retrySeconds: 10 },
};

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Lets a few pieces of expensive work of one owner go on at a time; its others wait their turn. Where others wait, the place
 * that a piece of work leaves stays empty for as long as the work took, two seconds at most. So however much one owner asks for at once, at
 * least half of the time is left for the rest where the work takes no longer than that, on a slow machine too. A `rest` of its own leaves more.
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  private readonly whose: Whose;
  private readonly rest: Rest;

  /**
   * @param width pieces of work of one owner at a time, on this process.
   * @param noun what they are, in the plural, for the refusal.
   * @param options whose they are, an account's by default; the rest after each of them, once as long as it took by default.
   */
  constructor(
    private readonly width: number,
    private readonly noun: string,
    { whose = 'account', rest = { times: 1, isAlways: false } }: { whose?: Whose; rest?: Rest } = {},
  ) {
    this.whose = whose;
    this.rest = rest;
  }

  /**
   * @param work may call `spend` with what it took of what is scarce, in milliseconds, each time that it does: then that counts in place of all
   * of its time, also where it fails. Work that may wait in vain calls it with 0 first.
   * @throws Refusal `rate_limited` when too many wait; what `work` throws.
   */
  async run<T>(owner: string, work: (spend: (ms: number) => void) => Promise<T>): Promise<T> {
    const waiting = this.queues.get(owner)?.waiting.length ?? 0;
    if (waiting >= WAITING) {
      const { of, cure, retrySeconds } = WAITERS[this.whose];
      const message = `${waiting} ${this.noun} ${of} are waiting for their turn; ${cure}.`;
      throw new Refusal('rate_limited', message, { retryAfterSeconds: retrySeconds });
    }
    return this.runAdmitted(owner, work);
  }

  /**
   * As `run`, and waits however many do. For work of what was let in before, whose number something else bounds: a page of an answer that
   * has begun cannot be refused any more.
   *
   * @throws what `work` throws.
   */
  async runAdmitted<T>(owner: string, work: (spend: (ms: number) => void) => Promise<T>): Promise<T> {
    const queue = this.queues.get(owner) ?? { running: 0, waiting: [] };
    this.queues.set(owner, queue);
    if (queue.running < this.width) queue.running += 1;
    // Resolves when work that ended has left its place.
    else await new Promise<void>((begin) => queue.waiting.push(begin));
    const beganAt = performance.now();
    let spentMs: number | null = null;
    try {
      return await work((ms) => (spentMs = (spentMs ?? 0) + ms));
    } finally {
      this.leave(owner, queue, spentMs ?? performance.now() - beganAt);
    }
  }

  private leave(owner: string, queue: Queue, tookMs: number): void {
    const { times, isAlways, mostMs = MAX_REST_MS } = this.rest;
    if (queue.waiting.length === 0 && !isAlways) return this.free(owner, queue);
    const next = (): void => {
      const begin = queue.waiting.shift();
      if (begin === undefined) this.free(owner, queue);
      else begin();
    };
    // A process that ends does not wait for it.
    setTimeout(next, Math.min(tookMs * times, mostMs)).unref();
  }

  private free(owner: string, queue: Queue): void {
    queue.running -= 1;
    if (queue.running === 0) this.queues.delete(owner);
  }
}
