import { Unreachable, type ComfyuiClient } from '../protocol';
import type { RestartRequest } from './restart-request';

/** Why an attached server that answers must be given no run. Only who runs it can cure that: its restart is requested. */
export class ServerTrouble {
  /** Runs of an engine that is gone, which are being ended. */
  private readonly left = new Set<string>();
  /** Runs that were given up while the server still had them, or may have had. */
  private readonly abandoned = new Set<string>();
  /** The run after which the GPU takes no more work from the server's process. */
  private brokenBy: string | null = null;

  constructor(private readonly restart: RestartRequest) {}

  get isSuspected(): boolean {
    return this.brokenBy !== null || this.left.size > 0 || this.abandoned.size > 0;
  }

  /**
   * What the server has now runs for nobody: who posted it is gone, since the server serves this engine alone. It is given no run before
   * that has left.
   *
   * @returns the runs that it has.
   * @throws {Unreachable} when the server does not answer
   */
  async takeOver(client: ComfyuiClient): Promise<string[]> {
    const { running, pending } = await client.queue();
    // What waits is taken out first: it would run next.
    const left = [...pending, ...running];
    for (const runId of left) this.left.add(runId);
    return left;
  }

  /** The server still has this run, or may: its restart is requested once it says so. */
  abandon(runId: string): void {
    this.abandoned.add(runId);
  }

  /**
   * The GPU takes no more work from the process that ran this. Its history has to keep the run: a new process is known by
   * not having it.
   *
   * @throws {Error} when its restart cannot be requested
   */
  async breakBy(runId: string): Promise<void> {
    this.brokenBy = runId;
    await this.restart.make();
  }

  /**
   * A sentence for an operator, or null when the server is well. Requests the restart of one that still has a run that was given up, or takes
   * requests and answers none. One that is gone is restarted by itself: a request would end its successor.
   *
   * @throws {Unreachable} when the server does not answer
   * @throws {Error} when its restart cannot be requested
   */
  async problemOf(client: ComfyuiClient): Promise<string | null> {
    if (this.restart.isPending) {
      return `ComfyUI ${this.brokenBy === null ? 'hung' : 'lost its GPU'}, and its restart was requested.`;
    }
    await client.systemStats().catch((error: unknown) => this.onNoAnswer(error));
    if (this.brokenBy !== null) {
      if (await client.history(this.brokenBy)) return gpuProblem(this.brokenBy);
      this.brokenBy = null;
    }
    if (!this.isSuspected) return null;
    const { running, pending } = await client.queue();
    const onServer = new Set([...running, ...pending]);
    for (const runs of [this.left, this.abandoned]) {
      for (const runId of runs) if (!onServer.has(runId)) runs.delete(runId);
    }
    await this.restartIfAbandoned();
    return this.isSuspected
      ? 'ComfyUI still has a run in its queue that was given up: it hung, or its worker is gone.'
      : null;
  }

  private async onNoAnswer(error: unknown): Promise<never> {
    if (error instanceof Unreachable && error.isSilence) await this.restartIfAbandoned();
    throw error;
  }

  private async restartIfAbandoned(): Promise<void> {
    if (this.abandoned.size > 0) await this.restart.make();
  }
}

/** What to say of a server whose GPU a run broke. */
export function gpuProblem(runId: string): string {
  return `The GPU takes no more work from ComfyUI since run ${runId}.`;
}
