import type { ModelCache } from '@millrace/model-cache';
import type { Logger } from '@millrace/platform';

/** Where a worker keeps models. */
export type ModelDisk = Pick<ModelCache, 'names' | 'capacityBytes'>;

/** What a worker reports of the models on its disk. */
interface DiskReport {
  /** Names by which graphs call them. */
  diskModels: string[];
  /** What it can hold of them; null where it holds none, or that cannot be read. */
  modelCacheBytes: number | null;
}

/** Names of the models on a worker's disk, those that it has reported, and the room that there is for them. */
export class DiskModels {
  private reported: string[] = [];

  /** @param disk null: it keeps none. */
  constructor(
    private readonly disk: ModelDisk | null,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** What is there; as reported last where that cannot be read: it decides what the worker prefers, and nothing else. Never rejects. */
  async names(): Promise<string[]> {
    try {
      return (await this.disk?.names()) ?? [];
    } catch (error) {
      this.logger.warn({ err: error }, 'the models on the disk could not be listed');
      return this.reported;
    }
  }

  /** What is there, to be reported now. Never rejects. */
  async report(): Promise<DiskReport> {
    this.reported = await this.names();
    return { diskModels: this.reported, modelCacheBytes: await this.capacityBytes() };
  }

  private async capacityBytes(): Promise<number | null> {
    try {
      return (await this.disk?.capacityBytes()) ?? null;
    } catch (error) {
      this.logger.warn({ err: error }, 'the room for models on the disk could not be read');
      return null;
    }
  }

  /** Whether something else is there than was reported. */
  async haveChanged(): Promise<boolean> {
    return (await this.names()).join() !== this.reported.join();
  }
}
