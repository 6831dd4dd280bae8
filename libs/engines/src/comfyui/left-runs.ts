import type { ComfyuiBounds } from './comfyui.config';
import type { RunFiles } from './files';
import { TooLarge, type ComfyuiClient } from './protocol';
import { cancelRun } from './run';
import type { LiveServer, ServerTrouble } from './server';

export interface LeftRunsOptions {
  bounds: Pick<ComfyuiBounds, 'cancelEveryMs' | 'interruptGraceMs' | 'sweepMs'>;
  trouble: ServerTrouble;
  onNotice: (notice: string) => void;
  /** A run goes on, although it was interrupted. */
  onIgnored: (runId: string, server: { client: ComfyuiClient }) => Promise<void>;
}

/** What workers that died have left on an attached server, and what belongs to it: nobody else will remove that. */
export class LeftRuns {
  private isClosed = false;
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeftRunsOptions) {}

  /**
   * Ends what the server has, removes the files of its runs, those that have ended among them, and then has it forget these. From then
   * on looks for files of which nothing else is known.
   *
   * @throws {Unreachable} when the server does not answer
   */
  async takeOver({ client, files }: LiveServer): Promise<void> {
    const left = await this.options.trouble.takeOver(client);
    await Promise.all(left.map((runId) => this.end(runId, client)));
    if (this.isClosed) return;
    const ended = await endedOf(client, await this.reported(files.runs(), []));
    await this.reported(files.cleanLeft([...left, ...ended]), undefined);
    // Not before: it is all that shows of which runs the files can go.
    await client.clearHistory();
    this.watch(files);
  }

  /** Looks every `sweepMs` for files of which nothing else is known: of runs that could not be removed, or were written to after that. */
  watch(files: RunFiles): void {
    if (!this.isClosed) this.timer = setInterval(() => this.sweep(files), this.options.bounds.sweepMs);
  }

  /** Resolves when nothing is removed any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer) clearInterval(this.timer);
    await this.sweeping;
  }

  private async end(runId: string, client: ComfyuiClient): Promise<void> {
    const { bounds, onIgnored, onNotice } = this.options;
    onNotice(`Run ${runId} of another worker is still on ComfyUI, and is ended.`);
    if ((await cancelRun(client, runId, bounds, () => this.isClosed)) === 'ignored') await onIgnored(runId, { client });
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

async function hasEnded(client: ComfyuiClient, runId: string): Promise<boolean> {
  try {
    return (await client.history(runId)) !== null;
  } catch (error) {
    // An entry that is too large to be read is one all the same.
    if (error instanceof TooLarge) return true;
    throw error;
  }
}
