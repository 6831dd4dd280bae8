import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { BlobStoreError, type AssetService, type StoredOutput } from '@millrace/assets';
import type { EngineOutput } from '@millrace/engines';
import type { ClaimedAttempt, OutputRecorder } from '@millrace/jobs';
import { backoffMs, type Logger } from '@millrace/platform';
import { OutputNames } from './output-names';

const STORE_TRIES = 4;
const RETRY_BASE_MS = 250;
const RETRY_CAP_MS = 4_000;

/** How the outputs of a run came out. */
export type OutputsEnd = { status: 'stored' } | { status: 'lease_lost' } | { status: 'failed'; reason: string };

/**
 * Stores outputs while the run goes on: one after the other, in the order in which they landed, each recorded under the
 * attempt's fence. Once one could not be stored the rest is dropped, because the attempt has failed then.
 */
export class OutputPipeline {
  private readonly names: OutputNames;
  private tail: Promise<void> = Promise.resolve();
  private end: OutputsEnd = { status: 'stored' };
  private ordinal = 0;

  constructor(
    private readonly claimed: ClaimedAttempt,
    private readonly assets: Pick<AssetService, 'storeOutput'>,
    private readonly recorder: OutputRecorder,
    classOf: (nodeId: string) => string,
    private readonly logger: Logger,
  ) {
    this.names = new OutputNames(classOf);
  }

  /** Take an output. Never throws; `settle` tells how it came out. */
  add(output: EngineOutput): void {
    const ordinal = this.ordinal;
    this.ordinal += 1;
    const name = this.names.nameOf(output);
    this.tail = this.tail.then(() => this.store(output, name, ordinal));
  }

  /** Resolves when every output that was added is stored or given up. */
  async settle(): Promise<OutputsEnd> {
    await this.tail;
    return this.end;
  }

  private async store(output: EngineOutput, name: string, ordinal: number): Promise<void> {
    if (this.end.status !== 'stored') return;
    try {
      const stored = await this.storeBytes(output, name);
      const { nodeId, index: nodeIndex } = output;
      const recorded = await this.recorder.record(this.claimed, { nodeId, nodeIndex, ordinal, name, ...stored });
      if (!recorded) this.end = { status: 'lease_lost' };
      if (output.kind === 'file') await rm(output.path, { force: true });
    } catch (error) {
      this.logger.error({ err: error, job: this.claimed.jobId, node: output.nodeId }, 'an output could not be stored');
      this.end = {
        status: 'failed',
        reason: error instanceof BlobStoreError ? error.message : 'it could not be recorded',
      };
    }
  }

  private async storeBytes(output: EngineOutput, name: string): Promise<StoredOutput> {
    for (let attempt = 0; ; attempt += 1) {
      const source = output.kind === 'file' ? createReadStream(output.path) : Readable.from([Buffer.from(output.text)]);
      try {
        const stored = await this.assets.storeOutput(this.claimed.accountId, source, { name });
        // A text that a node reports is text, whatever it looks like.
        return output.kind === 'text' ? { ...stored, contentType: 'text/plain; charset=utf-8' } : stored;
      } catch (error) {
        const passing = error instanceof BlobStoreError && error.fault === 'unreachable';
        if (!passing || attempt + 1 >= STORE_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS)));
      }
    }
  }
}
