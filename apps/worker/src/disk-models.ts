import type { Logger } from '@millrace/platform';

/** Names of the models on a worker's disk, and those that it has reported. */
export class DiskModels {
  private reported: string[] = [];

  constructor(
    private readonly list: () => Promise<string[]>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** What is there; as reported last where that cannot be read: it decides what the worker prefers, and nothing else. Never rejects. */
  async names(): Promise<string[]> {
    try {
      return await this.list();
    } catch (error) {
      this.logger.warn({ err: error }, 'the models on the disk could not be listed');
      return this.reported;
    }
  }

  /** What is there, to be reported now. */
  async report(): Promise<string[]> {
    this.reported = await this.names();
    return this.reported;
  }

  /** Whether something else is there than was reported. */
  async haveChanged(): Promise<boolean> {
    return (await this.names()).join() !== this.reported.join();
  }
}
