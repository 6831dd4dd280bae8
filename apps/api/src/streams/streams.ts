import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { BatchEventName, JobEventName } from '@millrace/contracts';
import { countAsPoll, heldBytesOf } from '../http';
import { EventAnswer, Frame } from './event-answer';
import { withoutLineBreaks } from './line-breaks';
import { OpenStreams, type StreamHolder } from './open-streams';

/** Clients give up a silent stream after 30 to 45 s, proxies after 60; 15 s are promised (wire supplement, section 3). */
const HEARTBEAT_MS = 12_000;
const ALIVE = new Frame(': alive\n\n');
/** Of a status, as JSON: most are a fraction of it. One with a thousand outputs is close to 1 MiB. */
const SMALL_STATUS = 65_536;

export interface StreamEvent {
  event: JobEventName | BatchEventName;
  data: object;
}

/** Sends event streams to clients. */
@Injectable()
export class Streams {
  /** Answers that have begun and not ended. One timer keeps all of them alive: thousands would cost memory and wake-ups. */
  private readonly begun = new Set<EventAnswer>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(private readonly open: OpenStreams) {}

  /**
   * Send events to one client until they end, the client goes, its access ends, or the process stops. The next event is only
   * asked for when the client has taken the last: a slow client holds one event in memory, no matter how much happens
   * meanwhile. A large status, and the job that it shows, count with the polls in memory until the stream ends.
   *
   * @param follow starts the items; what it throws before the first one is the answer instead of a stream.
   * @param present says what an item looks like on the wire.
   * @throws Refusal `too_many_streams`; `rate_limited` while too much of the account is in memory, also for a status that has grown.
   */
  async serve<T>(
    response: Response,
    holder: StreamHolder,
    follow: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
    present: (item: T) => StreamEvent,
  ): Promise<void> {
    countAsPoll(response.req);
    const stream = await this.open.enter(holder);
    const { signal } = stream.ending;
    const answer = new EventAnswer(response);
    response.on('close', () => stream.ending.abort());
    // A client that disconnected while it was being identified closed before the listener was there.
    if (response.destroyed) stream.ending.abort();
    try {
      const items = follow(signal);
      try {
        const first = await items.next();
        if (response.destroyed) return;
        let held = 0;
        const bytes = heldBytesOf(response.req);
        let count = (more: number): void => bytes.take(more);
        const frameFrom = (next: IteratorResult<T, void>): Frame | null => {
          if (next.done === true) return null;
          const event = present(next.value);
          const frame = frameOf(event);
          if (event.event === 'status' && frame.text.length > held + SMALL_STATUS) {
            count(frame.text.length - held);
            held = frame.text.length;
          }
          return frame;
        };
        let frame = frameFrom(first);
        // A stream that ends makes its client come back at once.
        count = (more) => bytes.takeMore(more);
        answer.begin();
        this.keepAlive(answer);
        for (; frame !== null; frame = frameFrom(await items.next())) {
          // No wait where none is needed: an event to thousands of streams is a loop without a pause.
          if (signal.aborted || answer.send(frame)) continue;
          await answer.drained(signal);
        }
      } finally {
        this.begun.delete(answer);
        await items.return();
      }
      response.end();
    } finally {
      this.open.leave(stream);
    }
  }

  private keepAlive(answer: EventAnswer): void {
    this.begun.add(answer);
    this.heartbeat ??= setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  /** A comment to every client that keeps up; the timer ends with the last stream. */
  private beat(): void {
    for (const answer of this.begun) if (!answer.isBehind) answer.send(ALIVE);
    if (this.begun.size > 0) return;
    clearInterval(this.heartbeat);
    this.heartbeat = undefined;
  }
}

/** Frames of snapshots that every stream of a job sends: made once, not once for each of a thousand streams. */
const shared = new WeakMap<object, Frame>();

function frameOf({ event, data }: StreamEvent): Frame {
  const known = shared.get(data);
  if (known !== undefined) return known;
  const frame = new Frame(`event: ${event}\ndata: ${withoutLineBreaks(JSON.stringify(data))}\n\n`);
  if (event === 'progress' || event === 'preview') shared.set(data, frame);
  return frame;
}
