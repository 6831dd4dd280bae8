import type { Logger } from './logger';

type Stop = () => Promise<void> | void;

/**
 * Ends a process in order: on SIGTERM, on SIGINT, or when its supervising parent has gone. What was opened last is closed
 * first; after a step that fails the next ones still run.
 */
export class Shutdown {
  private readonly steps: { name: string; stop: Stop }[] = [];
  private ending: Promise<void> | undefined;

  /** @param deadlineMs all steps together may take this long; then the process exits with code 1. */
  constructor(
    private readonly logger: Logger,
    private readonly deadlineMs: number,
  ) {}

  /** True once the process is stopping: it is then not ready. */
  get begun(): boolean {
    return this.ending !== undefined;
  }

  add(name: string, stop: Stop): void {
    this.steps.push({ name, stop });
  }

  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.exit(signal));
    process.on('disconnect', () => void this.exit('the supervisor has gone'));
  }

  private async exit(cause: string): Promise<void> {
    if (this.begun) return;
    const timer = setTimeout(() => {
      this.logger.error({ deadlineMs: this.deadlineMs }, 'stopping took too long');
      process.exit(1);
    }, this.deadlineMs);
    await this.run(cause);
    clearTimeout(timer);
    process.exit(0);
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
