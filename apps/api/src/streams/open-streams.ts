import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '@millrace/accounts';
import { Refusal, type Scope } from '@millrace/contracts';
import { SharedSlots } from '@millrace/messaging';
import { Metrics } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../api.config';

const RETRY_SECONDS = 5;

/** Who a stream, or another long answer, is open for, and by what right. */
export interface StreamHolder {
  accountId: string;
  /** Streams that the account may have open; null means the service's default. */
  limit: number | null;
  /** Null where no key was asked for. */
  apiKeyId: string | null;
  /** What the stream shows: it ends when the key may no longer do this. */
  scope: Scope;
  /** The console session by which it was opened, if any. */
  sessionId?: string | undefined;
  /** Set for a stream of a deployment. */
  deploymentId: string | null;
}

/** Who a caller's stream is open for. @param deploymentId null outside of deployments. @param scope that it asked for. */
export function holderOf(
  { accountId, apiKeyId, sessionId, limits }: Caller,
  deploymentId: string | null,
  scope: Scope,
): StreamHolder {
  return { accountId, apiKeyId, sessionId, limit: limits.streamLimit, deploymentId, scope };
}

/** A stream that is open on this process. */
export interface OpenStream extends StreamHolder {
  readonly id: string;
  /** Aborted to end it. */
  readonly ending: AbortController;
}

/**
 * The event streams that are open, and the other answers that take as long as their clients read. An account's limit holds over all API processes by places in Redis; while Redis is away,
 * each process limits alone.
 */
@Injectable()
export class OpenStreams {
  private readonly byAccount = new Map<string, Set<OpenStream>>();
  private whenEmpty: (() => void)[] = [];

  constructor(
    private readonly metrics: Metrics,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'maxStreamsPerAccount'>,
    private readonly places: SharedSlots,
  ) {}

  /** Take a place for a stream. @throws Refusal `too_many_streams`. */
  async enter(holder: StreamHolder): Promise<OpenStream> {
    const { accountId } = holder;
    const limit = holder.limit ?? this.settings.maxStreamsPerAccount;
    const own = this.byAccount.get(accountId) ?? new Set();
    if (own.size >= limit) throw tooMany(limit);
    const stream = { ...holder, id: randomUUID(), ending: new AbortController() };
    own.add(stream);
    this.byAccount.set(accountId, own);
    this.metrics.streamsOpen.inc();
    if (await this.places.take(placesOf(accountId), stream.id, limit).catch(() => true)) return stream;
    this.leave(stream);
    throw tooMany(limit);
  }

  /**
   * Send an answer that takes as long as its client reads, such as an archive, in one of these places. It breaks off when the access
   * of its holder ends, or the process must go.
   *
   * @throws Refusal `too_many_streams`; what `send` throws.
   */
  async sending(response: ServerResponse, holder: StreamHolder, send: () => Promise<void>): Promise<void> {
    const stream = await this.enter(holder);
    const { signal } = stream.ending;
    signal.addEventListener('abort', () => response.destroy());
    try {
      // While its place was taken, its access may have ended, and its client may have gone.
      if (signal.aborted) response.destroy();
      if (!response.destroyed) await send();
    } finally {
      this.leave(stream);
    }
  }

  leave(stream: OpenStream): void {
    const { accountId } = stream;
    const own = this.byAccount.get(accountId);
    own?.delete(stream);
    if (own?.size === 0) this.byAccount.delete(accountId);
    if (this.byAccount.size === 0) for (const resolve of this.whenEmpty.splice(0)) resolve();
    this.metrics.streamsOpen.dec();
    // A place that Redis did not give back is free again when it expires.
    this.places.release(placesOf(accountId), stream.id).catch(() => undefined);
  }

  /** How many streams an account has open on all processes; on this one while Redis is away. */
  async countOf(accountId: string): Promise<number> {
    return this.places.count(placesOf(accountId)).catch(() => this.byAccount.get(accountId)?.size ?? 0);
  }

  all(): OpenStream[] {
    return [...this.byAccount.values()].flatMap((own) => [...own]);
  }

  /** Keep the places of this process. Redis may have lost them: then they are taken again. */
  async renewPlaces(): Promise<void> {
    const places = [...this.byAccount].map(
      ([accountId, own]) => [placesOf(accountId), [...own].map(({ id }) => id)] as const,
    );
    if (places.length > 0) await this.places.renew(new Map(places));
  }

  /** Resolves as soon as no stream is open. */
  async allEnded(): Promise<void> {
    if (this.byAccount.size > 0) await new Promise<void>((resolve) => this.whenEmpty.push(resolve));
  }

  /** End every stream, because the process stops. Clients reconnect to another process and get a snapshot there. */
  endAll(): void {
    for (const stream of this.all()) stream.ending.abort();
  }
}

function placesOf(accountId: string): string {
  return `streams:${accountId}`;
}

function tooMany(limit: number): Refusal {
  const message = `This account has ${limit} event streams, downloads of batches and exports open, which is its limit; close some, or poll.`;
  return new Refusal('too_many_streams', message, { retryAfterSeconds: RETRY_SECONDS });
}
