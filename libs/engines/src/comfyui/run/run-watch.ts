import { setTimeout as delay } from 'node:timers/promises';
import type { ComfyuiBounds } from '../comfyui.config';
import { type ComfyuiClient, type Queue, locatePrompt, type HistoryEntry, TooLarge } from '../protocol';
import { judge, type RunFacts } from './watchdog';

export interface RunWatchListener {
  /**
   * The run has ended, and this is its entry. Comes with each look until the watch is stopped.
   *
   * @param silentMs since the last message of the run, or since its entry was there, if that is shorter
   */
  onEntry(entry: HistoryEntry, silentMs: number): void;
  /** The run has ended, and its entry is larger than is read. */
  onTooLarge(): void;
  /** The run has left the queue. */
  onRunning(): void;
  onMute(): void;
  /** The server neither has it nor has had it: it was restarted, or the run was taken out of its queue. */
  onGone(reason: string): void;
  /** @param isHung see `Judgement`. */
  onLost(reason: string, isHung: boolean): void;
}

/** Looks after one run from its post to its end, with or without its socket. */
export class RunWatch {
  private readonly stopping = new AbortController();
  private readonly postedMs = performance.now();
  private lastSignMs = this.postedMs;
  private deadThreadMs: number | null = null;
  private unreachableSinceMs: number | null = null;
  /** When the run's entry was first there. */
  private endedMs: number | null = null;
  private reopened = 0;
  private hasLargeEntry = false;

  constructor(
    private readonly client: ComfyuiClient,
    private readonly promptId: string,
    private readonly bounds: ComfyuiBounds,
    private readonly listener: RunWatchListener,
  ) {}

  /** A message of the run came. */
  onSign(): void {
    this.lastSignMs = performance.now();
    this.reopened = 0;
  }

  /** The log says that the thread that runs prompts has ended. */
  onDeadThread(): void {
    this.deadThreadMs ??= performance.now();
  }

  start(): void {
    void this.loop();
  }

  stop(): void {
    this.stopping.abort();
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await delay(this.bounds.pollMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }

  private async look(): Promise<void> {
    const found = await locatePrompt(this.client, this.promptId).catch((error: unknown) =>
      error instanceof TooLarge ? 'too_large' : null,
    );
    if (this.stopping.signal.aborted) return;
    if (found === 'too_large') {
      // At the second look: why it failed may be on its way by the socket, which says more than an entry that cannot be read.
      if (this.hasLargeEntry) this.listener.onTooLarge();
      this.hasLargeEntry = true;
      return;
    }
    this.unreachableSinceMs = found ? null : (this.unreachableSinceMs ?? performance.now());
    if (found && 'entry' in found) return this.onEntry(found.entry);
    if (found?.place === 'running') this.listener.onRunning();
    const judgement = judge(this.facts(found), this.bounds);
    if (judgement.kind === 'lost') {
      if (found?.place === 'gone') return this.listener.onGone(judgement.reason);
      return this.listener.onLost(judgement.reason, judgement.isHung);
    }
    if (judgement.kind !== 'reopen') return;
    this.reopened += 1;
    this.listener.onMute();
  }

  private onEntry(entry: HistoryEntry): void {
    const nowMs = performance.now();
    this.endedMs ??= nowMs;
    this.listener.onEntry(entry, nowMs - Math.max(this.endedMs, this.lastSignMs));
  }

  private facts(found: { queue: Queue; place: 'pending' | 'running' | 'gone' } | null): RunFacts {
    return {
      nowMs: performance.now(),
      postedMs: this.postedMs,
      lastSignMs: this.lastSignMs,
      place: found?.place ?? 'unknown',
      isBehindAnother: (found?.queue.running.length ?? 0) > 0,
      unreachableSinceMs: this.unreachableSinceMs,
      deadThreadMs: this.deadThreadMs,
      reopened: this.reopened,
    };
  }
}
