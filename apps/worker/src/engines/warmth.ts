import { backoffMs, type Logger } from '@millrace/platform';

/** What a warm-up took; null: there was nothing to do. */
export interface WarmUpTimes {
  modelsMs: number | null;
  warmUpMs: number | null;
}

const RETRY_BASE_MS = 2_000;
const RETRY_CAP_MS = 60_000;

/** Whether an engine has done what it is to do before it is given a run, since it last started. */
export class Warmth {
  private isCold = false;
  private hasBeenWarm = false;
  private restoring: Promise<void> | null = null;
  /** Times that it failed since it last succeeded. */
  private failures = 0;
  private nextTryMs = Number.NEGATIVE_INFINITY;
  private fault: string | null = null;

  /** @param work what it is to do; null: nothing. */
  constructor(
    private readonly work: (() => Promise<WarmUpTimes>) | null,
    private readonly logger: Logger,
  ) {}

  get isWarm(): boolean {
    return this.work === null || !this.isCold;
  }

  /** Whether it is warm, and nothing is under way that would make it so. */
  get isSettled(): boolean {
    return this.work === null || (this.hasBeenWarm && !this.isCold);
  }

  /** Why it is not warm, for an operator; null where nothing has failed. */
  get problem(): string | null {
    return this.isWarm ? null : this.fault;
  }

  /** For the first time. @throws when it fails. */
  async warmUp(): Promise<WarmUpTimes> {
    const times = (await this.work?.()) ?? { modelsMs: null, warmUpMs: null };
    this.hasBeenWarm = true;
    return times;
  }

  /**
   * The engine has restarted, or was away: what it had in memory may be gone. One that is being warmed up may be too busy to answer;
   * whether it was lost, the run says.
   */
  lose(): void {
    if (this.hasBeenWarm && this.restoring === null) this.isCold = true;
  }

  /** Begin to do it again where that is necessary, after a pause if it failed before. @returns whether it is warm by now. */
  restore(): boolean {
    if (this.work === null || !this.isCold) return true;
    if (performance.now() >= this.nextTryMs)
      this.restoring ??= this.again(this.work).finally(() => (this.restoring = null));
    return false;
  }

  /** Never rejects. */
  private async again(work: () => Promise<WarmUpTimes>): Promise<void> {
    try {
      await work();
      this.isCold = false;
      this.failures = 0;
      this.fault = null;
    } catch (error) {
      this.fault = `The warm-up failed: ${(error as Error).message}`;
      this.nextTryMs = performance.now() + backoffMs(this.failures, RETRY_BASE_MS, RETRY_CAP_MS);
      this.failures += 1;
      this.logger.warn({ err: error, failures: this.failures }, 'an engine that restarted could not be warmed up');
    }
  }
}
