import { z } from 'zod';
import { GatewayControlsSchema, GatewayOfferSchema, type DispatchMessage } from '@millrace/contracts';
import { backoffMs, type Logger } from '@millrace/platform';
import type { GatewayClient } from './gateway.client';
import { pause } from './pause';

const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 5_000;

interface LaneParts {
  client: GatewayClient;
  workerId: string;
  /** Resolves when the worker is free for the next message: with the message where it is left to another. Never rejects. */
  take: (message: DispatchMessage) => Promise<DispatchMessage | null>;
  /** A job is to be canceled. */
  cancel: (jobId: string) => void;
  logger: Logger;
}

/**
 * The lane of a worker outside the cluster: it asks the gateway for a message as often at a time as it can run attempts, and takes
 * the next when the attempt's engine is free. Beside that it asks what is to be canceled.
 */
export class RemoteLane {
  private capacity = 0;
  /** Requests and attempts under way. */
  private readonly seats = new Set<Promise<void>>();
  /** Aborts the requests that wait; another takes its place when the worker can run attempts again. */
  private waiting = new AbortController();
  private readonly closing = new AbortController();
  private readonly listening: Promise<void>;

  constructor(private readonly parts: LaneParts) {
    this.listening = this.listen();
  }

  /** Take this many messages at once from now on. What is under way goes on. */
  setCapacity(capacity: number): void {
    this.capacity = this.closing.signal.aborted ? 0 : capacity;
    if (this.capacity === 0) {
      this.waiting.abort();
      this.waiting = new AbortController();
    }
    while (this.seats.size < this.capacity) this.occupy();
  }

  private occupy(): void {
    const seat = this.serve().finally(() => {
      this.seats.delete(seat);
      // The capacity may have grown again before this one had ended.
      if (this.seats.size < this.capacity) this.occupy();
    });
    this.seats.add(seat);
  }

  /** Never rejects. */
  private async serve(): Promise<void> {
    for (let failures = 0; this.seats.size <= this.capacity;) {
      const { signal } = this.waiting;
      try {
        const message = await this.next(signal);
        failures = 0;
        if (message === null) continue;
        const left = await this.parts.take(message);
        if (left !== null) await this.leave(left);
      } catch (error) {
        if (signal.aborted) return;
        this.parts.logger.debug({ err: error }, 'the gateway was not asked for a message');
        await pause(backoffMs(failures, RETRY_BASE_MS, RETRY_CAP_MS), signal);
        failures += 1;
      }
    }
  }

  private async next(signal: AbortSignal): Promise<DispatchMessage | null> {
    const path = `workers/${this.parts.workerId}/offers`;
    const { message } = await this.parts.client.ask(GatewayOfferSchema, {
      method: 'POST',
      path,
      takes: 'wait',
      signal,
    });
    return message;
  }

  private async leave(message: DispatchMessage): Promise<void> {
    const path = `workers/${this.parts.workerId}/offers/left`;
    await this.parts.client.ask(z.object({}), { method: 'POST', path, body: { message } });
  }

  private async listen(): Promise<void> {
    const { client, workerId, cancel, logger } = this.parts;
    const { signal } = this.closing;
    const request = { method: 'POST', path: `workers/${workerId}/controls`, takes: 'wait', signal } as const;
    for (let failures = 0; !signal.aborted;) {
      try {
        const { cancel: jobs } = await client.ask(GatewayControlsSchema, request);
        failures = 0;
        for (const jobId of jobs) cancel(jobId);
      } catch (error) {
        if (!signal.aborted) logger.debug({ err: error }, 'the gateway was not asked what is to be canceled');
        await pause(backoffMs(failures, RETRY_BASE_MS, RETRY_CAP_MS), signal);
        failures += 1;
      }
    }
  }

  /** Take nothing more; resolves when every message under way is done. */
  async drain(): Promise<void> {
    this.setCapacity(0);
    await Promise.all(this.seats);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.drain();
    await this.listening;
  }
}
