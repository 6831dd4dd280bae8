import type { Redis } from 'ioredis';
import { LiveEventSchema, type LiveEvent, type Preview, type Progress } from '@millrace/contracts';

const channelOf = (jobId: string): string => `millrace:job:${jobId}`;
const snapshotOf = (jobId: string): string => `millrace:job:${jobId}:last`;
/** Longer than any pause between two snapshots; the last one expires by itself after the job has ended. */
const SNAPSHOT_SECONDS = 600;

/**
 * Store the snapshot that streams show first when they open later, and publish it. One script, because setting up a pipeline
 * costs the client more processor time than the commands do.
 */
const STORE_AND_PUBLISH = `
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  redis.call('PUBLISH', ARGV[4], ARGV[2])`;

/** The snapshots that have a preview, by the time of it. */
const PREVIEWS = 'millrace:previews';
/**
 * Previews kept at most: of the largest, 64 MiB, a fourth of what the bundled Redis has for everything. A stream that opens for a job whose
 * preview was not kept shows the next one, which a run that makes previews has ready within seconds.
 */
const KEPT_PREVIEWS = 256;

/** The same for a preview. Of more than are kept, the oldest go. */
const STORE_PREVIEW_AND_PUBLISH = `${STORE_AND_PUBLISH}
  local now = redis.call('TIME')
  redis.call('ZADD', KEYS[2], now[1] + now[2] / 1000000, KEYS[1])
  redis.call('EXPIRE', KEYS[2], ARGV[3])
  local excess = redis.call('ZCARD', KEYS[2]) - ARGV[5]
  if excess <= 0 then return end
  local oldest = redis.call('ZPOPMIN', KEYS[2], excess)
  for at = 1, #oldest, 2 do redis.call('HDEL', oldest[at], 'preview') end`;

const FORGET = `
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], KEYS[1])`;

const FORGET_AND_PUBLISH = `${FORGET}
  redis.call('PUBLISH', ARGV[1], ARGV[2])`;

/** The latest progress of each of several jobs, in one command: what a command costs its client is most of what it costs. */
const PROGRESS_OF_EACH = `
  local found = {}
  for at, key in ipairs(KEYS) do found[at] = redis.call('HGET', key, 'progress') end
  return found`;

/** The latest progress and preview of a job. */
export interface LiveSnapshot {
  progress: Progress | null;
  preview: Preview | null;
}

/** Publishes the live events of jobs. No work waits for it, and what it loses is still in Postgres. */
export class LivePublisher {
  constructor(private readonly redis: Redis) {}

  /** Publish, and keep progress and previews for streams that open later. Never rejects. */
  async publish(jobId: string, event: LiveEvent): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const text = JSON.stringify(event);
    await this.send(jobId, event.kind, text).catch(() => undefined);
  }

  /** Publish the last event of a job, and keep no progress and preview of it any longer. Never rejects. */
  async publishEnd(jobId: string, event: LiveEvent): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const published = [channelOf(jobId), JSON.stringify(event)];
    await this.redis.eval(FORGET_AND_PUBLISH, 2, snapshotOf(jobId), PREVIEWS, ...published).catch(() => undefined);
  }

  /** The latest progress and preview, as far as Redis has them. Never rejects. */
  async snapshot(jobId: string): Promise<LiveSnapshot> {
    const stored = await this.redis.hgetall(snapshotOf(jobId)).catch((): Record<string, string> => ({}));
    const progress = parseEvent(stored.progress);
    const preview = parseEvent(stored.preview);
    return {
      progress: progress?.kind === 'progress' ? progress.progress : null,
      preview: preview?.kind === 'preview' ? preview.preview : null,
    };
  }

  /** The latest progress of each, as far as Redis has it; null for the others. Never rejects. */
  async progress(jobIds: readonly string[]): Promise<(Progress | null)[]> {
    const read = this.redis.eval(PROGRESS_OF_EACH, jobIds.length, ...jobIds.map(snapshotOf)) as Promise<
      (string | null)[]
    >;
    const stored = await read.catch((): null[] => []);
    return jobIds.map((_, at) => {
      const event = parseEvent(stored[at] ?? undefined);
      return event?.kind === 'progress' ? event.progress : null;
    });
  }

  private send(jobId: string, kind: LiveEvent['kind'], text: string): Promise<unknown> {
    const channel = channelOf(jobId);
    if (kind !== 'progress' && kind !== 'preview') return this.redis.publish(channel, text);
    const snapshot = [kind, text, SNAPSHOT_SECONDS, channel];
    if (kind === 'progress') return this.redis.eval(STORE_AND_PUBLISH, 1, snapshotOf(jobId), ...snapshot);
    return this.redis.eval(STORE_PREVIEW_AND_PUBLISH, 2, snapshotOf(jobId), PREVIEWS, ...snapshot, KEPT_PREVIEWS);
  }

  /** Delete a job's snapshot. Never rejects. */
  async forget(jobId: string): Promise<void> {
    await this.redis.eval(FORGET, 2, snapshotOf(jobId), PREVIEWS).catch(() => undefined);
  }
}

/** What a listener receives: events, and `gap` when some may have been missed. */
export type ReceivedEvent = LiveEvent | { kind: 'gap' };
type Listener = (event: ReceivedEvent) => void;

/** Receives the live events of jobs: one subscription per job and process, for any number of streams. */
export class LiveSubscriber {
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly redis: Redis) {
    redis.on('message', (channel: string, text: string) => {
      const event = parseEvent(text);
      if (event === null) return;
      for (const listener of this.listeners.get(channel) ?? []) listener(event);
    });
    redis.on('ready', () => {
      const channels = [...this.listeners.keys()];
      if (channels.length > 0) void redis.subscribe(...channels).catch(() => undefined);
      // What was published while Redis was away is lost.
      for (const listeners of this.listeners.values()) for (const listener of listeners) listener({ kind: 'gap' });
    });
  }

  /**
   * Call `listener` for every event of a job from now on. While Redis is away no event arrives and nothing fails.
   *
   * @returns `subscribed` resolves when Redis has confirmed the subscription (at once while Redis is away); events published
   * after that arrive. `stop` ends it.
   */
  subscribe(jobId: string, listener: Listener): { subscribed: Promise<void>; stop: () => void } {
    const channel = channelOf(jobId);
    let listeners = this.listeners.get(channel);
    let subscribed: Promise<void> = Promise.resolve();
    if (listeners === undefined) {
      listeners = new Set();
      this.listeners.set(channel, listeners);
    }
    listeners.add(listener);
    // Sent for every listener, not only for the first: the answer shows that the subscription is active.
    if (this.redis.status === 'ready')
      subscribed = this.redis.subscribe(channel).then(
        () => undefined,
        () => undefined,
      );
    const own = listeners;
    return {
      subscribed,
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
