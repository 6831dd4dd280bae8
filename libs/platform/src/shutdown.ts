import type { Logger } from './logger';

type Stop = () => Promise<void> | void;

/** All steps of a process that is stopped while it boots may take this long: nothing is under way that is worth a wait. */
const BOOT_STOP_MS = 5_000;
/** Exit codes of a process that a signal ended before it was up, as a shell has them. */
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130 } as const;

/**
 * Ends a process in order: on SIGTERM, on SIGINT, or when its supervising parent has gone. What was opened last is closed
 * first; after a step that fails the next ones still run. It works from the first moment of a boot: what was opened until then
 * is closed, within seconds.
 */
export class Shutdown {
  private readonly steps: { name: string; stop: Stop }[] = [];
  private ending: Promise<void> | undefined;
  private deadlineMs = BOOT_STOP_MS;
  private isUp = false;

  constructor(private readonly logger: Logger) {}

  /** True once the process is stopping: it is then not ready. */
  get begun(): boolean {
    return this.ending !== undefined;
  }

  /** @throws {Error} when the process is stopping: the boot that goes on beside it must open nothing more. */
  add(name: string, stop: Stop): void {
    if (this.begun) throw new Error(`the process is stopping, and does not open: ${name}`);
    this.steps.push({ name, stop });
  }

  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => void this.exit(signal, this.isUp ? 0 : SIGNAL_EXIT_CODES[signal]));
    }
    process.on('disconnect', () => void this.exit('the supervisor has gone', 0));
  }

  /**
   * The boot is over, and what runs may be given time to end.
   *
   * @param deadlineMs all steps together may take this long from now on; then the process exits with code 1.
   * @throws {Error} when the process is stopping.
   */
  up(deadlineMs: number): void {
    if (this.begun) throw new Error('the process is stopping');
    this.deadlineMs = deadlineMs;
    this.isUp = true;
  }

  private async exit(cause: string, code: number): Promise<void> {
    if (this.begun) return;
    const timer = setTimeout(() => {
      this.logger.error({ deadlineMs: this.deadlineMs }, 'stopping took too long');
      // While it boots, what does not close is what the boot waits for.
      process.exit(this.isUp ? 1 : code);
    }, this.deadlineMs);
    await this.run(cause);
    clearTimeout(timer);
    process.exit(code);
  }

  /** Run every step once, the last added first; later calls wait for the first. */
  run(cause: string): Promise<void> {
    this.ending ??= this.runSteps(cause);
    return this.ending;
  }

  private async runSteps(cause: string): Promise<void> {
    this.logger.info({ cause }, 'stopping');
    for (const { name, stop } of [...this.steps].reverse()) {
      try {
        await stop();
      } catch (error) {
        this.logger.error({ err: error, step: name }, 'a step of stopping failed');
      }
    }
    this.logger.info('stopped');
  }
}
