import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { BatchEventName, JobEventName } from '@millrace/contracts';
import { OpenStreams, type StreamHolder } from './open-streams';

/** Clients give up a silent stream after 30 to 45 s, proxies after 60; 15 s are promised (wire supplement, section 3). */
const HEARTBEAT_MS = 12_000;
/** A client that has taken nothing for this long is considered gone. */
const STALLED_MS = 120_000;

export interface StreamEvent {
  event: JobEventName | BatchEventName;
  data: object;
}

/** Sends event streams to clients. */
@Injectable()
export class Streams {
  /** Answers that have begun and not ended. One timer keeps all of them alive: thousands would cost memory and wake-ups. */
  private readonly begun = new Set<Response>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(private readonly open: OpenStreams) {}

  /**
   * Send events to one client until they end, the client goes, its access ends, or the process stops. The next event is only
   * asked for when the client has taken the last: a slow client holds one event in memory, no matter how much happens
   * meanwhile.
   *
   * @param follow starts the items; what it throws before the first one is the answer instead of a stream.
   * @param present says what an item looks like on the wire.
   * @throws Refusal `too_many_streams`.
   */
  async serve<T>(
    response: Response,
    holder: StreamHolder,
    follow: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
    present: (item: T) => StreamEvent,
  ): Promise<void> {
    const stream = await this.open.enter(holder);
    const { signal } = stream.ending;
    response.on('close', () => stream.ending.abort());
    // A client that disconnected while it was being identified closed before the listener was there.
    if (response.destroyed) stream.ending.abort();
    try {
      const items = follow(signal);
      try {
        const first = await items.next();
        if (response.destroyed) return;
        begin(response);
        this.keepAlive(response);
        for (let next = first; next.done !== true; next = await items.next()) {
          // No wait where none is needed: an event to thousands of streams is a loop without a pause.
          if (signal.aborted || response.write(frameOf(present(next.value)))) continue;
          await drained(response, signal);
        }
      } finally {
        this.begun.delete(response);
        await items.return();
      }
      response.end();
    } finally {
      this.open.leave(stream);
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
}

/** Nothing between us and the client may keep, bundle or compress events (wire supplement, section 3). */
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Answer HEAD, where GET would be answered with a stream. */
export function answerHead(response: Response): void {
  response.writeHead(200, STREAM_HEADERS).end();
}

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
