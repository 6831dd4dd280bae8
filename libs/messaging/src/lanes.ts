import { Queue, Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { DispatchMessageSchema, type DispatchMessage } from '@millrace/contracts';
import { BoundedMap } from '@millrace/platform';

/** The hash tag keeps all keys of a pool's lane on one node of a Redis cluster. */
export const prefixOf = (poolId: string): string => `{millrace:${poolId}}`;
export const LANE = 'lane';

/** Ids of messages contain no colon (BullMQ refuses it) and are the same for the same attempt, so adding twice adds once. */
const messageId = ({ jobId, attempt }: DispatchMessage, again?: string): string =>
  again === undefined ? `${jobId}.${attempt}` : `${jobId}.${attempt}.${again}`;

/** Names the one offer of an attempt that workers leave to others: however many of them do, there is one. */
const LEFT = 'left';

/**
 * Where the messages of an attempt are: the first one, and the second one that `addLeft` sends. `waiting`: a message waits to be received. If none
 * waits, `absent`: the first one is not in the lane; `taken`: a worker has received the first one and is not done with it; `held`: workers have
 * received both and are done with neither.
 */
export type MessageState = 'waiting' | 'absent' | 'taken' | 'held';

/**
 * A message whose worker died is given to another after these. Long before, the lease of a claimed attempt has run out in
 * Postgres. A message that arrives twice while its attempt runs is harmless: the claim finds nothing.
 */
const MESSAGE_LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;

/**
 * After this a message that a worker left is offered again, where it does not say when. By then that worker waits behind all others, and Redis serves the
 * one that has waited longest.
 */
const LEFT_AFTER_MS = 25;

/**
 * For so long a consumer that stops waits until Redis knows of its last messages. Those that it does not learn of, as while it is away, are given to others once
 * their locks have run out.
 */
const LAST_REPORT_MS = 2_000;

/** Pools whose BullMQ queue is kept: one takes 7 KB, and to make it again two round trips. */
const QUEUES_LIMIT = 1_000;

/** Puts messages into the lanes of the pools. */
export class LaneProducer {
  private readonly queues: BoundedMap<Queue>;

  /** @param limit of pools whose BullMQ queue is kept. */
  constructor(
    private readonly connection: Redis,
    limit = QUEUES_LIMIT,
  ) {
    // To close one takes its listeners from the connection, and no more: its calls that are under way go on.
    this.queues = new BoundedMap(limit, (queue) => void queue.close().catch(() => undefined));
  }

  /** @throws when Redis is away; the job then waits in Postgres until it is put here again. */
  async add(poolId: string, message: DispatchMessage): Promise<void> {
    await this.queue(poolId).add('attempt', message, { jobId: messageId(message) });
  }

  /** Add several at once, in this order. @throws when Redis is away, or took only some of them. */
  async addAll(poolId: string, messages: readonly DispatchMessage[]): Promise<void> {
    await this.queue(poolId).addBulk(
      messages.map((message) => ({ name: 'attempt', data: message, opts: { jobId: messageId(message) } })),
    );
  }

  /**
   * Offer an attempt again, ahead of all others, while the worker that left it still has its first message.
   *
   * @param again names this offer among those of the same attempt: adding the same one twice adds once.
   * @throws when Redis is away.
   */
  async addAgain(poolId: string, message: DispatchMessage, again: string): Promise<void> {
    await this.queue(poolId).add('attempt', message, { jobId: messageId(message, again), lifo: true });
  }

  /**
   * Offer an attempt again that a worker has left to others, or sits on: ahead of all others, and once however often that is asked for.
   *
   * @throws when Redis is away.
   */
  async addLeft(poolId: string, message: DispatchMessage): Promise<void> {
    await this.addAgain(poolId, message, LEFT);
  }

  /** The state of these attempts. */
  async states(poolId: string, messages: DispatchMessage[]): Promise<MessageState[]> {
    const queue = this.queue(poolId);
    return Promise.all(
      messages.map(async (message) => {
        const ids = [messageId(message), messageId(message, LEFT)];
        const [first, left] = await Promise.all(ids.map((id) => queue.getJobState(id)));
        if ([first, left].some((state) => state !== 'unknown' && state !== 'active')) return 'waiting';
        if (first === 'unknown') return 'absent';
        return left === 'unknown' ? 'taken' : 'held';
      }),
    );
  }

  /** The messages in a pool's lane that wait, or that workers have taken: `limit` from position `from`. */
  async list(poolId: string, kind: 'waiting' | 'taken', from: number, limit: number): Promise<DispatchMessage[]> {
    const jobs = await this.queue(poolId).getJobs([kind === 'taken' ? 'active' : kind], from, from + limit - 1);
    // A message may be gone between the listing and the reading.
    return jobs.flatMap((job) => DispatchMessageSchema.safeParse((job as Job | undefined)?.data).data ?? []);
  }

  /** Messages waiting and taken in a pool's lane. */
  async depth(poolId: string): Promise<{ waiting: number; active: number }> {
    const counts = await this.queue(poolId).getJobCounts('waiting', 'active');
    return { waiting: counts.waiting ?? 0, active: counts.active ?? 0 };
  }

  private queue(poolId: string): Queue {
    const known = this.queues.get(poolId);
    if (known !== undefined) return known;
    const queue = new Queue(LANE, {
      connection: this.connection,
      prefix: prefixOf(poolId),
      skipWaitingForReady: true,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      // BullMQ keeps 10,000 events unless the queue says otherwise, for workers, too. Nothing reads them.
      streams: { events: { maxLen: 0 } },
    });
    queue.on('error', () => undefined);
    this.queues.set(poolId, queue);
    // It asks the server for its version at first, and where that fails, as while Redis is away, its calls fail for good: the next one makes another.
    queue.waitUntilReady().catch(() => {
      if (this.queues.peek(poolId) === queue) this.queues.delete(poolId);
    });
    return queue;
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }
}

/** Takes messages from one pool's lane, as many at a time as its capacity says: none at first. */
export class LaneConsumer {
  private readonly worker: Worker;
  /** Messages that were left and are not offered again yet. */
  private readonly leaving = new Set<Promise<void>>();
  /** Messages that were taken and are not done. */
  private readonly underWay = new Set<Promise<unknown>>();

  /**
   * @param take called for each message; resolves when the worker is free for the next: with null, or with the message where
   * the attempt is left to another worker. A rejection drops the message: Postgres decides what becomes of the job.
   * @param onLeft called with a message that was left, once this worker waits behind the others; never rejects.
   */
  constructor(
    connection: Redis,
    poolId: string,
    take: (message: DispatchMessage) => Promise<DispatchMessage | null>,
    onLeft: (message: DispatchMessage) => Promise<void>,
    onError: (error: Error) => void,
  ) {
    this.worker = new Worker(
      LANE,
      async (job: Job) => {
        const message = DispatchMessageSchema.safeParse(job.data);
        if (!message.success) return null;
        const taken = take(message.data);
        const under = taken.catch(() => undefined).finally(() => this.underWay.delete(under));
        this.underWay.add(under);
        return taken;
      },
      {
        connection,
        prefix: prefixOf(poolId),
        autorun: false,
        drainDelay: 1,
        lockDuration: MESSAGE_LOCK_MS,
        stalledInterval: STALLED_EVERY_MS,
        maxStalledCount: 1_000,
      },
    );
    this.worker.on('completed', (_job: Job, left: DispatchMessage | null) => {
      if (left === null) return;
      const { restMs = LEFT_AFTER_MS, ...message } = left;
      const offered = new Promise((resolve) => setTimeout(resolve, restMs)).then(() => onLeft(message));
      const leaving = offered.finally(() => this.leaving.delete(leaving));
      this.leaving.add(leaving);
    });
    this.worker.on('error', onError);
  }

  /**
   * Take this many messages at once from now on. With 0 nothing more is taken, apart from one message that is already on its
   * way; what is under way goes on.
   */
  setCapacity(capacity: number): void {
    // To pause first makes a higher number count at once, not only when the next message is done.
    void this.worker.pause(true);
    if (capacity === 0) return;
    this.worker.concurrency = capacity;
    void this.worker.resume();
  }

  /** Take nothing more; resolves when every message under way is done. */
  async drain(): Promise<void> {
    await this.orWithoutRedis(this.worker.pause());
  }

  /** Take nothing more; resolves when what was taken is done, and what was left is offered to others. */
  async close(): Promise<void> {
    await this.orWithoutRedis(this.worker.close());
    await Promise.all(this.leaving);
  }

  /** Resolves with `stopped`, for which BullMQ waits until Redis answers, or a while after what is under way is done. */
  private async orWithoutRedis(stopped: Promise<void>): Promise<void> {
    await Promise.race([stopped, this.idle()]);
  }

  private async idle(): Promise<void> {
    do {
      await Promise.all(this.underWay);
      await new Promise((resolve) => setTimeout(resolve, LAST_REPORT_MS).unref());
      // One that was on its way may have arrived meanwhile.
    } while (this.underWay.size > 0);
  }
}
