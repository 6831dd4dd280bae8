import { Refusal } from '@millrace/contracts';

/** Of one owner; with its requests per minute this bounds what it can make a process do at one time. */
const WAITING = 100;
/** However long its last work took, an owner waits no longer than this for its next. */
const MAX_REST_MS = 2_000;

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Lets a few pieces of expensive work of one owner go on at a time; its others wait their turn. Where others wait, the place
 * that a piece of work leaves stays empty for as long as the work took. So however much one owner asks for at once, at least
 * half of the time is left for the rest, on a slow machine too.
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  /**
   * @param width pieces of work of one owner at a time, on this process.
   * @param noun what they are, in the plural, for the refusal.
   */
  constructor(
    private readonly width: number,
    private readonly noun: string,
  ) {}

  /** @throws Refusal `rate_limited` when too many wait; what `work` throws. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(owner) ?? { running: 0, waiting: [] };
    this.queues.set(owner, queue);
    if (queue.running < this.width) queue.running += 1;
    else await this.wait(queue);
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      this.leave(owner, queue, performance.now() - beganAt);
    }
  }

  /** Resolves when work that ended has left its place. */
  private wait({ waiting }: Queue): Promise<void> {
    if (waiting.length >= WAITING) {
      const message = `${waiting.length} ${this.noun} of this account are waiting for their turn; wait for their answers.`;
      throw new Refusal('rate_limited', message, { retryAfterSeconds: 1 });
    }
    return new Promise((begin) => waiting.push(begin));
  }

  private leave(owner: string, queue: Queue, tookMs: number): void {
    if (queue.waiting.length === 0) return this.free(owner, queue);
    setTimeout(
      () => {
        const next = queue.waiting.shift();
        if (next === undefined) this.free(owner, queue);
        else next();
      },
      Math.min(tookMs, MAX_REST_MS),
    );
  }

  private free(owner: string, queue: Queue): void {
    queue.running -= 1;
    if (queue.running === 0) this.queues.delete(owner);
  }
}
