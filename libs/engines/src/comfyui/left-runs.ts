import { setTimeout as delay } from 'node:timers/promises';
import type { ComfyuiBounds } from './comfyui.config';
import type { RunFiles } from './files';
import { TooLarge, type ComfyuiClient } from './protocol';
import { cancelRun, type CancelResult } from './run';
import type { LiveServer, ServerTrouble } from './server';

export interface LeftRunsOptions {
  bounds: Pick<ComfyuiBounds, 'cancelEveryMs' | 'interruptGraceMs' | 'pollMs' | 'sweepMs'>;
  trouble: ServerTrouble;
  onNotice: (notice: string) => void;
}

/**
 * What nobody waits for on an attached server, and what belongs to it: runs of workers that died, and those that this one gave up. Nobody else
 * will end or remove that.
 */
export class LeftRuns {
  private readonly closing = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeftRunsOptions) {}

  /**
   * Ends what the server has, removes the files of its runs, those that have ended among them, and then has it forget these. From then
   * on looks for files of which nothing else is known.
   *
   * @throws {Unreachable} when the server does not answer, and its restart was not requested
   */
  async takeOver(live: LiveServer): Promise<void> {
    const left = await this.options.trouble.takeOver(live.client);
    await Promise.all(left.map((runId) => this.end(runId, live.client)));
    if (this.isClosed) return;
    await this.forgetEnded(left, live).catch((error: unknown) => {
      // What hung is about to be replaced, and its history goes with it.
      if (!this.options.trouble.isRestartRequested) throw error;
    });
    this.watch(live.files);
  }

  /** Looks every `sweepMs` for files of which nothing else is known: of runs that could not be removed, or were written to after that. */
  watch(files: RunFiles): void {
    if (!this.isClosed) this.timer = setInterval(() => this.sweep(files), this.options.bounds.sweepMs);
  }

  /**
   * Ends a run that was given up here as soon as the server answers, and has it forget that once the run has left, interrupted in vain or
   * not. Resolves then, when the server is about to be restarted, or at the close. Never rejects.
   *
   * @param isHung it was interrupted in vain already, or the server begins no run any more: it stays in the queue, for a restart, lest others be lost there
   */
  async endGivenUp(runId: string, { client, files }: LiveServer, isHung: boolean): Promise<void> {
    this.options.trouble.giveUp(runId);
    if (isHung) await this.onIgnored(runId, client);
    else await this.whenEnded(runId, client);
    if (!(await this.whenGone(runId, client))) return;
    // It may have gone on, and written, since it was given up.
    await this.reported(files.clean(runId, []), undefined);
    await this.noticed(client.forgetHistory(runId));
  }

  /** Resolves when nothing is removed any more. */
  async close(): Promise<void> {
    this.closing.abort();
    if (this.timer) clearInterval(this.timer);
    await this.sweeping;
  }

  private async forgetEnded(left: string[], { client, files }: LiveServer): Promise<void> {
    const ended = await endedOf(client, await this.reported(files.runs(), []));
    // As of those that `ServerTrouble` forgets, nobody knows what they said.
    if (ended.length > 0) await this.noticed(client.freeMemory());
    await this.reported(files.cleanLeft([...left, ...ended]), undefined);
    // Not before: it is all that shows of which runs the files can go.
    await client.clearHistory();
  }

  private async end(runId: string, client: ComfyuiClient): Promise<void> {
    this.options.onNotice(`Run ${runId} of another worker is still on ComfyUI, and is ended.`);
    await this.whenEnded(runId, client);
  }

  /** Ends a run, again and again while the server does not answer: what is wrong with that shows in the health. */
  private async whenEnded(runId: string, client: ComfyuiClient): Promise<CancelResult> {
    const { bounds, trouble } = this.options;
    for (;;) {
      const isUp = await trouble.problemOf(client).then(
        () => true,
        () => false,
      );
      const result = isUp ? await cancelRun(client, runId, bounds, () => this.isClosed) : 'unanswered';
      if (result === 'ignored') await this.onIgnored(runId, client);
      if (result !== 'unanswered' || this.isClosed || trouble.isRestartRequested) return result;
      // The next silence is the second: it is no longer a node that keeps one answer up.
      trouble.giveUp(runId);
      await delay(bounds.pollMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
  }

  /** Waits until a run has left. False where the server is about to be replaced, and at the close. */
  private async whenGone(runId: string, client: ComfyuiClient): Promise<boolean> {
    const { bounds, trouble } = this.options;
    while (!this.isClosed && !trouble.isRestartRequested) {
      if (await isGone(client, runId).catch(() => false)) return !this.isClosed;
      await delay(bounds.pollMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
    return false;
  }

  /** A run goes on, although it was interrupted. */
  private async onIgnored(runId: string, client: ComfyuiClient): Promise<void> {
    const { trouble } = this.options;
    trouble.onIgnored(runId);
    await this.noticed(trouble.problemOf(client));
  }

  /** What goes wrong is for an operator: no caller can do anything about it. */
  private async noticed(done: Promise<unknown>): Promise<void> {
    await done.catch((error: unknown) => this.options.onNotice(error instanceof Error ? error.message : String(error)));
  }

  private get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  private sweep(files: RunFiles): void {
    this.sweeping = this.sweeping.then(() => this.reported(files.cleanLeft([]), undefined));
  }

  /** Files that cannot be reached keep no worker from its work. */
  private async reported<T>(done: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await done;
    } catch (error) {
      this.options.onNotice(`Files of runs stay behind: ${String(error)}`);
      return otherwise;
    }
  }
}

/** Those of the runs that this server has ended. Others may be of another server that has the same folders. */
async function endedOf(client: ComfyuiClient, runIds: string[]): Promise<string[]> {
  const ended: string[] = [];
  for (const runId of runIds) if (await hasEnded(client, runId)) ended.push(runId);
  return ended;
}

async function isGone(client: ComfyuiClient, runId: string): Promise<boolean> {
  const { running, pending } = await client.queue();
  return !running.includes(runId) && !pending.includes(runId);
}

async function hasEnded(client: ComfyuiClient, runId: string): Promise<boolean> {
  try {
    return (await client.history(runId)) !== null;
  } catch (error) {
    // An entry that is too large to be read is one all the same.
    if (error instanceof TooLarge) return true;
    throw error;
  }
}
