import type { ClaimedAttempt, Lifecycle } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import type { RunObserver } from './run-observer';

/** What a run prints is saved this often while it goes on, so that it can be read after its worker is lost. */
const SAVE_EVERY_MS = 5_000;

/** Saves what a run prints, where the logs of its job are kept. */
export class LogSaver {
  private readonly timer: NodeJS.Timeout;
  private savedLength = 0;

  constructor(
    private readonly lifecycle: Pick<Lifecycle, 'keepLog'>,
    private readonly claimed: ClaimedAttempt,
    private readonly observer: Pick<RunObserver, 'logLength' | 'readLog'>,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => void this.save(), SAVE_EVERY_MS);
  }

  /** Save what was printed since the last time. Never rejects. */
  async save(): Promise<void> {
    const { logLength } = this.observer;
    if (!this.claimed.keepsLogs || logLength === this.savedLength) return;
    try {
      await this.lifecycle.keepLog(this.claimed, this.observer.readLog());
      this.savedLength = logLength;
    } catch (error) {
      this.logger.warn({ err: error }, 'what the run printed could not be saved yet');
    }
  }

  close(): void {
    clearInterval(this.timer);
  }
}
