import { Unreachable, type ComfyuiClient } from '../protocol';
import type { RestartRequest } from './restart-request';

/**
 * Where a run stands that nobody waits for, and that the server has or may have. `left`: its engine is gone, and it is being ended.
 * `given_up`: this engine gave it up, or got no answer as it ended it, and it is being ended. `ignored`: it was interrupted in vain, or is never begun.
 */
type Unwanted = 'left' | 'given_up' | 'ignored';

/** Why an attached server that answers must be given no run. Only who runs it can cure that: its restart is requested. */
export class ServerTrouble {
  private readonly unwanted = new Map<string, Unwanted>();
  /** The run after which the GPU takes no more work from the server's process. */
  private brokenBy: string | null = null;

  constructor(private readonly restart: RestartRequest) {}

  get isSuspected(): boolean {
    return this.brokenBy !== null || this.unwanted.size > 0;
  }

  /** What hung is about to be replaced. */
  get isRestartRequested(): boolean {
    return this.restart.isPending;
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
    for (const runId of left) this.unwanted.set(runId, 'left');
    return left;
  }

  /** Nobody waits for this run any more, and the server may still have it. */
  giveUp(runId: string): void {
    this.unwanted.set(runId, 'given_up');
  }

  /** This run was interrupted in vain, or is never begun: the server's restart is requested once it says that it still has it. */
  onIgnored(runId: string): void {
    this.unwanted.set(runId, 'ignored');
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
   * A sentence for an operator, or null when the server is well. Requests the restart of one that still has a run that ignored the interrupt, or
   * that takes requests and answers none. One that is gone is restarted by itself: a request would end its successor.
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
    await this.forget(
      [...this.unwanted.keys()].filter((runId) => !onServer.has(runId)),
      client,
    );
    if (this.unwanted.size === 0) return null;
    const isIgnored = this.has('ignored');
    if (isIgnored) await this.restart.make();
    const ending = isIgnored ? 'only a restart of ComfyUI ends it' : 'it is being ended';
    return `ComfyUI still has a run in its queue that was given up, or whose worker is gone: ${ending}.`;
  }

  /**
   * Nobody listened to the end of these runs: a node that was blocked with a message is cached without it, and the next run would succeed
   * without what it blocks.
   */
  private async forget(runIds: readonly string[], client: ComfyuiClient): Promise<void> {
    if (runIds.length === 0) return;
    await client.freeMemory().catch((error: unknown) => {
      // One that refuses it, as a proxy may, can run all the same.
      if (error instanceof Unreachable) throw error;
    });
    for (const runId of runIds) this.unwanted.delete(runId);
  }

  private async onNoAnswer(error: unknown): Promise<never> {
    const isSilence = error instanceof Unreachable && error.isSilence;
    if (isSilence && (this.has('given_up') || this.has('ignored'))) await this.restart.make();
    throw error;
  }

  private has(unwanted: Unwanted): boolean {
    return [...this.unwanted.values()].includes(unwanted);
  }
}

/** What to say of a server whose GPU a run broke. */
export function gpuProblem(runId: string): string {
  return `The GPU takes no more work from ComfyUI since run ${runId}.`;
}
