import { Refusal } from '@millrace/contracts';

/** Of one account; with its requests per minute this bounds what it can make the service do at one time. */
const WAITING = 100;

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Lets a few reads of an account go on at a time, and its others wait their turn: however many pages one account requests at
 * once, connections to the database and time of the event loop are left for the rest.
 */
export class AccountTurns {
  private readonly queues = new Map<string, Queue>();

  /** @param width reads of an account at a time, on this process. */
  constructor(private readonly width: number) {}

  /** @throws Refusal `rate_limited` when too many wait; what `read` throws. */
  async run<T>(accountId: string, read: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(accountId) ?? { running: 0, waiting: [] };
    this.queues.set(accountId, queue);
    if (queue.running < this.width) queue.running += 1;
    else await this.wait(queue);
    try {
      return await read();
    } finally {
      this.leave(accountId, queue);
    }
  }

  /** Resolves when a read that ends has left its place. */
  private wait({ waiting }: Queue): Promise<void> {
    if (waiting.length >= WAITING) {
      const message = `${waiting.length} lists of this account are waiting to be read; wait for their answers.`;
      throw new Refusal('rate_limited', message, { retryAfterSeconds: 1 });
    }
    return new Promise((begin) => waiting.push(begin));
  }

  private leave(accountId: string, queue: Queue): void {
    const next = queue.waiting.shift();
    if (next !== undefined) return next();
    queue.running -= 1;
    if (queue.running === 0) this.queues.delete(accountId);
  }
}
