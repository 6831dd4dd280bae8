import { setTimeout as delay } from 'node:timers/promises';
import type { ComfyuiBounds } from '../comfyui.config';
import { connectTo, openSocket, StartFailure, type LiveServer, type ServerListener } from './live-server';
import type { HostedServer, ServerHost } from './server-host';

export interface KeeperListener extends ServerListener {
  /** The server has ended, and nobody here ended it. */
  onGone(): void;
}

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
/** One that lived this long was well: its successor starts without a pause. */
const WELL_AFTER_MS = 60_000;

/** Keeps a server at hand: starts it, starts its successor when it ends or hangs, and keeps a socket to it open. */
export class ServerKeeper {
  private readonly closing = new AbortController();
  private live: LiveServer | null = null;
  private hosted: HostedServer | null = null;
  private coming: Promise<LiveServer> | null = null;
  private why: string | null = 'ComfyUI has not been started.';

  constructor(
    private readonly host: ServerHost,
    private readonly bounds: ComfyuiBounds,
    private readonly listener: KeeperListener,
  ) {}

  get canReplace(): boolean {
    return this.host.canReplace;
  }

  get processId(): number | null {
    return this.host.processId;
  }

  /** Why there is no server at hand; null when there is. */
  get problem(): string | null {
    return this.live ? null : this.why;
  }

  /** @throws {StartFailure} when it does not come up; nothing is left running then */
  async start(): Promise<void> {
    await (this.coming = this.open());
  }

  /** The server, or the reason why there is none within the time that a start may take. */
  async whenLive(signal: AbortSignal): Promise<LiveServer | { problem: string }> {
    if (this.live) return this.live;
    const late = delay(this.bounds.startMs, null, { signal, ref: false }).catch(() => null);
    const live = await Promise.race([this.coming, late]).catch(() => null);
    return live ?? { problem: this.why ?? 'ComfyUI is not at hand.' };
  }

  /** A socket under a new client id: nothing that an earlier run still sends can reach it. */
  async renewSocket(): Promise<void> {
    const { live, hosted } = this;
    if (!live || !hosted) return;
    await live.socket.close();
    if (this.live === live)
      Object.assign(live, openSocket(live.client, hosted, this.bounds, this.listener, !this.canReplace));
  }

  /**
   * Ends the server at once, and starts another. Resolves when the old one is gone; the new one is on its way then.
   *
   * @param of nothing is done where this one is at hand no more
   */
  async replace(of: LiveServer | null = this.live): Promise<void> {
    if (!this.live || this.live !== of) return;
    this.listener.onNotice('ComfyUI is being replaced.');
    await this.bringNext(0);
  }

  /** Resolves when the server that is on its way, if any, answers. */
  async whenReplaced(): Promise<void> {
    await this.coming;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.coming?.catch(() => undefined);
    await this.drop(false);
    this.why = 'The engine is closed.';
  }

  private async open(): Promise<LiveServer> {
    this.why = 'ComfyUI is starting.';
    try {
      const hosted = await this.host.start();
      const live = await connectTo(hosted, this.bounds, this.listener, !this.canReplace, this.closing.signal);
      this.live = live;
      this.hosted = hosted;
      this.watchOver(hosted);
      return live;
    } catch (error) {
      this.why = error instanceof Error ? error.message : String(error);
      await this.host.stop(true);
      throw error;
    }
  }

  private watchOver(hosted: HostedServer): void {
    const startedMs = performance.now();
    void hosted.gone.then((lastWords) => {
      if (this.hosted !== hosted) return;
      this.listener.onNotice(`ComfyUI has ended. Its last words: ${lastWords}`);
      this.listener.onGone();
      const pauseMs = performance.now() - startedMs >= WELL_AFTER_MS ? 0 : FIRST_PAUSE_MS;
      this.bringNext(pauseMs).catch((error: unknown) => this.listener.onNotice(String(error)));
    });
  }

  /** Ends the server, and starts another after it. Resolves when the old one is gone. */
  private bringNext(pauseMs: number): Promise<void> {
    const gone = this.drop(true);
    // From now on every caller that waits for a server waits for the next one.
    this.coming = gone.then(() => this.recover(pauseMs));
    // Callers that wait for it get the error. There may be none, so the rejection is handled here.
    this.coming.catch(() => undefined);
    return gone;
  }

  private async drop(kill: boolean): Promise<void> {
    const { live } = this;
    this.live = null;
    this.hosted = null;
    await live?.socket.close();
    live?.client.close();
    await this.host.stop(kill);
  }

  /** Starts a server again and again until one answers. */
  private async recover(firstPauseMs: number): Promise<LiveServer> {
    const { signal } = this.closing;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LAST_PAUSE_MS)) {
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw new StartFailure('The engine was closed.');
      try {
        return await this.open();
      } catch (error) {
        this.listener.onNotice(error instanceof Error ? error.message : String(error));
      }
    }
  }
}
