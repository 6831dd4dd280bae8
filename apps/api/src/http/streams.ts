import { once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Refusal, type JobEventName } from '@millrace/contracts';
import { Metrics } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../api.config';

/** Clients give up a silent stream after 30 to 45 s, proxies after 60; 15 s are promised (wire supplement, section 3). */
const HEARTBEAT_MS = 12_000;
/** A client that has taken nothing for this long is considered gone. */
const STALLED_MS = 120_000;
const RETRY_SECONDS = 5;

export interface StreamEvent {
  event: JobEventName;
  data: object;
}

/** The event streams that are open on this process. */
@Injectable()
export class Streams {
  private readonly open = new Map<string, Set<AbortController>>();
  /** Answers that have begun and not ended. One timer keeps all of them alive: thousands would cost memory and wake-ups. */
  private readonly begun = new Set<Response>();
  private heartbeat: NodeJS.Timeout | undefined;
  private whenEmpty: (() => void)[] = [];

  constructor(
    private readonly metrics: Metrics,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'maxStreamsPerAccount'>,
  ) {}

  /** How many streams an account has open. */
  openOf(accountId: string): number {
    return this.open.get(accountId)?.size ?? 0;
  }

  /** @throws Refusal `too_many_streams`. */
  private enter(accountId: string, limit: number | null): AbortController {
    const own = this.open.get(accountId) ?? new Set();
    const most = limit ?? this.settings.maxStreamsPerAccount;
    if (own.size >= most) {
      throw new Refusal(
        'too_many_streams',
        `This account has ${most} event streams open, which is its limit; close some, or poll.`,
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      );
    }
    const stream = new AbortController();
    own.add(stream);
    this.open.set(accountId, own);
    this.metrics.streamsOpen.inc();
    return stream;
  }

  private leave(accountId: string, stream: AbortController): void {
    const own = this.open.get(accountId);
    own?.delete(stream);
    if (own?.size === 0) this.open.delete(accountId);
    if (this.open.size === 0) for (const resolve of this.whenEmpty.splice(0)) resolve();
    this.metrics.streamsOpen.dec();
  }

  /**
   * Send events to one client until they end, the client goes, or the process stops. The next event is only asked for when
   * the client has taken the last: a slow client holds one event in memory, no matter how much happens meanwhile.
   *
   * @param follow starts the items; what it throws before the first one is the answer instead of a stream.
   * @param present says what an item looks like on the wire.
   * @throws Refusal `too_many_streams`.
   */
  async serve<T>(
    response: Response,
    account: { id: string; limit: number | null },
    follow: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
    present: (item: T) => StreamEvent,
  ): Promise<void> {
    const stream = this.enter(account.id, account.limit);
    response.on('close', () => stream.abort());
    // A client that disconnected while it was being identified closed before the listener was there.
    if (response.destroyed) stream.abort();
    try {
      const items = follow(stream.signal);
      try {
        const first = await items.next();
        if (response.destroyed) return;
        begin(response);
        this.keepAlive(response);
        for (let next = first; next.done !== true; next = await items.next()) {
          // No wait where none is needed: an event to thousands of streams is a loop without a pause.
          if (stream.signal.aborted || response.write(frameOf(present(next.value)))) continue;
          await drained(response, stream.signal);
        }
      } finally {
        this.begun.delete(response);
        await items.return();
      }
      response.end();
    } finally {
      this.leave(account.id, stream);
    }
  }

  private keepAlive(response: Response): void {
    this.begun.add(response);
    this.heartbeat ??= setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  /** A comment to every client that keeps up; the timer ends with the last stream. */
  private beat(): void {
    for (const response of this.begun) if (!response.writableNeedDrain) response.write(': alive\n\n');
    if (this.begun.size > 0) return;
    clearInterval(this.heartbeat);
    this.heartbeat = undefined;
  }

  /** Resolves as soon as no stream is open. */
  async allEnded(): Promise<void> {
    if (this.open.size > 0) await new Promise<void>((resolve) => this.whenEmpty.push(resolve));
  }

  /** End every stream, because the process stops. Clients reconnect to another process and get a snapshot there. */
  close(): void {
    for (const own of this.open.values()) for (const stream of own) stream.abort();
  }
}

/** Nothing between us and the client may keep, bundle or compress events (wire supplement, section 3). */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

function begin(response: Response): void {
  response.writeHead(200, STREAM_HEADERS);
  response.socket?.setNoDelay(true);
  response.flushHeaders();
}

/** Frames of snapshots that every stream of a job sends: printed once, not once for each of a thousand streams. */
const shared = new WeakMap<object, string>();

function frameOf({ event, data }: StreamEvent): string {
  const known = shared.get(data);
  if (known !== undefined) return known;
  const frame = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  if (event === 'progress' || event === 'preview') shared.set(data, frame);
  return frame;
}

async function drained(response: Response, signal: AbortSignal): Promise<void> {
  const stalled = AbortSignal.timeout(STALLED_MS);
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  } catch {
    if (stalled.aborted) response.destroy();
  }
}
