import { GATEWAY_POLL_MS, type DispatchMessage } from '@millrace/contracts';

/** How long a message is kept for the worker that was given it, in milliseconds. After that it is another worker's. */
const HOLD_MS = 10_000;

/** Takes messages from a pool's lane: `LaneConsumer` of messaging. */
export interface Consumer {
  setCapacity(capacity: number): void;
  close(): Promise<void>;
}

/** Makes the consumer of a lane. `take` resolves with the message where it is left to others. */
export type OpenConsumer = (take: (message: DispatchMessage) => Promise<DispatchMessage | null>) => Consumer;

/** A message that a worker was given and has neither claimed nor left. */
interface Held {
  message: DispatchMessage;
  release: (left: DispatchMessage | null) => void;
}

/**
 * The place of one worker outside the cluster at its pool's lane. It takes a message only while the worker waits for one, and
 * keeps it until the worker has claimed or left it: a worker that went away with a message holds it up for `HOLD_MS` at most. Nothing
 * is claimed here: a claim that its worker never learned of would cost the job an attempt.
 */
export class WorkerLane {
  private readonly consumer: Consumer;
  private readonly waiting = new Set<(message: DispatchMessage | null) => void>();
  private readonly held = new Map<string, Held>();
  private capacity = 0;
  private closed = false;
  /** When the worker last waited here, on the clock of `performance`. */
  private askedAtMs = performance.now();

  /**
   * @param isOffered whether an attempt still waits to be claimed: the worker may have claimed it by another gateway.
   * @param holdMs how long a message is kept for the worker, in milliseconds.
   */
  constructor(
    open: OpenConsumer,
    private readonly isOffered: (message: DispatchMessage) => Promise<boolean>,
    private readonly holdMs = HOLD_MS,
  ) {
    this.consumer = open((message) => this.take(message));
  }

  /** How long the worker has not waited here, in milliseconds; 0 while it does, or has a message. */
  get idleMs(): number {
    return this.waiting.size + this.held.size > 0 ? 0 : performance.now() - this.askedAtMs;
  }

  /**
   * Wait for a message.
   *
   * @param gone aborts when the worker does not wait any more.
   * @returns null when there was none in time.
   */
  next(gone: AbortSignal, waitMs = GATEWAY_POLL_MS): Promise<DispatchMessage | null> {
    if (gone.aborted || this.closed) return Promise.resolve(null);
    return new Promise((resolve) => {
      const end = (message: DispatchMessage | null): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', stop);
        this.waiting.delete(end);
        this.askedAtMs = performance.now();
        this.follow();
        resolve(message);
      };
      const stop = (): void => end(null);
      const timer = setTimeout(stop, waitMs);
      gone.addEventListener('abort', stop);
      this.waiting.add(end);
      this.follow();
    });
  }

  /** The worker has claimed a message, or leaves `left` to others. @returns whether it was held here. */
  done(message: DispatchMessage, left: DispatchMessage | null): boolean {
    const held = this.held.get(keyOf(message));
    held?.release(left);
    return held !== undefined;
  }

  private take(message: DispatchMessage): Promise<DispatchMessage | null> {
    const [give] = this.waiting;
    // It was on its way when the worker stopped to wait.
    if (give === undefined) return Promise.resolve(message);
    return new Promise((resolve) => {
      const key = keyOf(message);
      const release = (left: DispatchMessage | null): void => {
        clearTimeout(timer);
        if (this.held.get(key) === held) this.held.delete(key);
        this.follow();
        resolve(left);
      };
      const held = { message, release };
      const timer = setTimeout(() => void this.expire(held), this.holdMs);
      this.held.get(key)?.release(null);
      this.held.set(key, held);
      give(message);
    });
  }

  /** The worker has said nothing here in time. Offered again in vain, a message would be ahead of all others. */
  private async expire({ message, release }: Held): Promise<void> {
    release((await this.isOffered(message).catch(() => true)) ? message : null);
  }

  /** What is held counts: the lane gives as many messages at once as it is asked for. */
  private follow(): void {
    const capacity = this.closed ? 0 : this.waiting.size + this.held.size;
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.consumer.setCapacity(capacity);
  }

  /** Give nothing more, and leave to others what is held. */
  async close(): Promise<void> {
    this.closed = true;
    for (const end of [...this.waiting]) end(null);
    for (const { message, release } of [...this.held.values()]) release(message);
    this.follow();
    await this.consumer.close();
  }
}

function keyOf({ jobId, attempt }: DispatchMessage): string {
  return `${jobId}.${attempt}`;
}
