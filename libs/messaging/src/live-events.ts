import type { Redis } from 'ioredis';
import { LiveEventSchema, type LiveEvent, type Preview, type Progress } from '@millrace/contracts';

const channelOf = (jobId: string): string => `millrace:job:${jobId}`;
const snapshotOf = (jobId: string): string => `millrace:job:${jobId}:last`;
/** A snapshot outlives any pause between two of them, and goes by itself once a job has ended. */
const SNAPSHOT_SECONDS = 600;

/**
 * Keep what streams that open later are shown first, and publish it: one command, because a pipeline of the client costs
 * the processor more to set up than its commands do.
 */
const SHOW = `
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  redis.call('PUBLISH', ARGV[4], ARGV[2])`;

/** The latest that was shown of a job. */
export interface LiveSnapshot {
  progress: Progress | null;
  preview: Preview | null;
}

/** Tells whoever listens. Nothing here is awaited by the work it tells of, and nothing is lost that Postgres does not hold. */
export class LivePublisher {
  constructor(private readonly redis: Redis) {}

  /** Publish, and keep progress and previews for streams that open later. Never rejects. */
  async publish(jobId: string, event: LiveEvent): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const text = JSON.stringify(event);
    const { kind } = event;
    const told =
      kind === 'progress' || kind === 'preview'
        ? this.redis.eval(SHOW, 1, snapshotOf(jobId), kind, text, SNAPSHOT_SECONDS, channelOf(jobId))
        : this.redis.publish(channelOf(jobId), text);
    await told.catch(() => undefined);
  }

  /** The latest progress and preview, as far as Redis remembers. Never rejects. */
  async snapshot(jobId: string): Promise<LiveSnapshot> {
    const stored = await this.redis.hgetall(snapshotOf(jobId)).catch((): Record<string, string> => ({}));
    const progress = parseEvent(stored.progress);
    const preview = parseEvent(stored.preview);
    return {
      progress: progress?.kind === 'progress' ? progress.progress : null,
      preview: preview?.kind === 'preview' ? preview.preview : null,
    };
  }

  /** The latest progress, as far as Redis remembers. Never rejects. */
  async progress(jobId: string): Promise<Progress | null> {
    const stored = await this.redis.hget(snapshotOf(jobId), 'progress').catch(() => null);
    const event = parseEvent(stored ?? undefined);
    return event?.kind === 'progress' ? event.progress : null;
  }

  /** Forget what was shown of a job. Never rejects. */
  async forget(jobId: string): Promise<void> {
    await this.redis.del(snapshotOf(jobId)).catch(() => undefined);
  }
}

/** What a listener hears: events, and that some may have been missed. */
export type HeardEvent = LiveEvent | { kind: 'gap' };
type Listener = (event: HeardEvent) => void;

/** Hears of jobs: one subscription per job and process, however many streams are open on it. */
export class LiveSubscriber {
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly redis: Redis) {
    redis.on('message', (channel: string, text: string) => {
      const event = parseEvent(text);
      if (event === null) return;
      for (const listener of this.listeners.get(channel) ?? []) listener(event);
    });
    // What was published while Redis was away is gone. The subscriptions are renewed by the client itself.
    redis.on('ready', () => {
      for (const listeners of this.listeners.values()) for (const listener of listeners) listener({ kind: 'gap' });
    });
  }

  /**
   * Call `listener` for every event of a job from now on. While Redis is away nothing is heard and nothing fails.
   *
   * @returns a promise of the moment from which events are heard, and the way to stop.
   */
  subscribe(jobId: string, listener: Listener): { heard: Promise<void>; stop: () => void } {
    const channel = channelOf(jobId);
    let listeners = this.listeners.get(channel);
    let heard: Promise<void> = Promise.resolve();
    if (listeners === undefined) {
      listeners = new Set();
      this.listeners.set(channel, listeners);
    }
    listeners.add(listener);
    // Asked for every listener, not only the first: the answer says that the subscription stands.
    if (this.redis.status === 'ready')
      heard = this.redis.subscribe(channel).then(
        () => undefined,
        () => undefined,
      );
    else void this.redis.subscribe(channel).catch(() => undefined);
    const own = listeners;
    return {
      heard,
      stop: () => {
        own.delete(listener);
        if (own.size > 0 || this.listeners.get(channel) !== own) return;
        this.listeners.delete(channel);
        void this.redis.unsubscribe(channel).catch(() => undefined);
      },
    };
  }
}

function parseEvent(text: string | undefined): LiveEvent | null {
  if (text === undefined) return null;
  try {
    const event = LiveEventSchema.safeParse(JSON.parse(text));
    return event.success ? event.data : null;
  } catch {
    return null;
  }
}
