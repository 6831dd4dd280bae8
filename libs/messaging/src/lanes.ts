import { Queue, Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { DispatchMessageSchema, type DispatchMessage } from '@millrace/contracts';

/** The hash tag keeps all keys of a pool's lane on one node of a Redis cluster. */
const prefixOf = (poolId: string): string => `{millrace:${poolId}}`;
const LANE = 'lane';

/** Ids of lane entries carry no colon (BullMQ refuses it) and are the same for the same attempt, so adding twice adds once. */
const entryId = ({ jobId, attempt }: DispatchMessage, again?: string): string =>
  again === undefined ? `${jobId}.${attempt}` : `${jobId}.${attempt}.${again}`;

/** `taken`: a worker has it and has not done with it, whatever it runs meanwhile. */
export type HintState = 'waiting' | 'taken' | 'absent';

/**
 * A hint that a worker took and died with is given to another after these: long before, Postgres has seen a claimed attempt's
 * lease run out. A hint that comes a second time while its attempt runs is harmless: the claim finds nothing.
 */
const HINT_LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;

/**
 * After which a hint that a worker left is offered again: by then it stands behind all who wait for one, and Redis serves
 * who has waited longest.
 */
const LEFT_AFTER_MS = 25;

/** Puts hints into the lanes of the pools. */
export class LaneProducer {
  private readonly queues = new Map<string, Queue>();

  constructor(private readonly connection: Redis) {}

  /** @throws when Redis is away; the job then waits in Postgres until it is put here again. */
  async add(poolId: string, message: DispatchMessage): Promise<void> {
    await this.queue(poolId).add('attempt', message, { jobId: entryId(message) });
  }

  /**
   * Offer an attempt anew, ahead of all others, while its first hint is still in the hands of a worker that left it.
   *
   * @param again tells this offer from others of the same attempt: the same twice is one.
   * @throws when Redis is away.
   */
  async addAgain(poolId: string, message: DispatchMessage, again: string): Promise<void> {
    await this.queue(poolId).add('attempt', message, { jobId: entryId(message, again), lifo: true });
  }

  /** What the lane knows of the first hints of these attempts. */
  async states(poolId: string, messages: DispatchMessage[]): Promise<HintState[]> {
    const queue = this.queue(poolId);
    return Promise.all(
      messages.map(async (message) => {
        const state = await queue.getJobState(entryId(message));
        return state === 'unknown' ? 'absent' : state === 'active' ? 'taken' : 'waiting';
      }),
    );
  }

  /** The hints in a pool's lane, waiting or taken: `limit` of each kind from position `from`. */
  async list(poolId: string, from: number, limit: number): Promise<DispatchMessage[]> {
    const entries = await this.queue(poolId).getJobs(['waiting', 'active'], from, from + limit - 1);
    // An entry may go between the listing and the reading.
    return entries.flatMap((entry) => DispatchMessageSchema.safeParse((entry as Job | undefined)?.data).data ?? []);
  }

  /** Entries waiting and taken in a pool's lane. */
  async depth(poolId: string): Promise<{ waiting: number; active: number }> {
    const counts = await this.queue(poolId).getJobCounts('waiting', 'active');
    return { waiting: counts.waiting ?? 0, active: counts.active ?? 0 };
  }

  private queue(poolId: string): Queue {
    let queue = this.queues.get(poolId);
    if (queue === undefined) {
      queue = new Queue(LANE, {
        connection: this.connection,
        prefix: prefixOf(poolId),
        skipWaitingForReady: true,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      });
      queue.on('error', () => undefined);
      this.queues.set(poolId, queue);
    }
    return queue;
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }
}

/** Takes hints from one pool's lane, `concurrency` at a time. */
export class LaneConsumer {
  private readonly worker: Worker;

  /**
   * @param take called for each hint; resolves when the worker is free for the next, with the hint where it leaves the
   * attempt to another worker. A rejection drops the hint: Postgres decides what becomes of the job.
   * @param onLeft called with a hint that was left, once this worker stands behind the others that wait for one.
   */
  constructor(
    connection: Redis,
    poolId: string,
    concurrency: number,
    take: (message: DispatchMessage) => Promise<DispatchMessage | null>,
    onLeft: (message: DispatchMessage) => void,
    onError: (error: Error) => void,
  ) {
    this.worker = new Worker(
      LANE,
      async (entry: Job) => {
        const message = DispatchMessageSchema.safeParse(entry.data);
        return message.success ? take(message.data) : null;
      },
      {
        connection,
        prefix: prefixOf(poolId),
        concurrency,
        autorun: false,
        drainDelay: 1,
        lockDuration: HINT_LOCK_MS,
        stalledInterval: STALLED_EVERY_MS,
        maxStalledCount: 1_000,
      },
    );
    this.worker.on('completed', (_entry: Job, left: DispatchMessage | null) => {
      if (left !== null) setTimeout(() => onLeft(left), LEFT_AFTER_MS);
    });
    this.worker.on('error', onError);
  }

  /** Begin to take. */
  start(): void {
    void this.worker.run();
  }

  /** Take nothing more; resolves when every hint under way is done with. */
  async drain(): Promise<void> {
    await this.worker.pause();
  }

  /** Take nothing more from now on, and do not wait. */
  pause(): void {
    void this.worker.pause(true);
  }

  async close(): Promise<void> {
    await this.worker.close();
  }
}
