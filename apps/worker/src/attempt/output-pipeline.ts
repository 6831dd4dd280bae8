import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { BlobStoreError, type AssetService, type StoredOutput } from '@millrace/assets';
import { isText, type EngineOutput } from '@millrace/engines';
import type { ClaimedAttempt, OutputDraft, OutputRecorder } from '@millrace/jobs';
import { isTransient } from '@millrace/database';
import { backoffMs, crashPoint, type Logger } from '@millrace/platform';
import type { LeaseKeeper } from './lease-keeper';
import { isAltered, outputFaultOf, type OutputFault } from './output-fault';
import { OutputNames } from './output-names';

const STORE_TRIES = 4;
/** PostgreSQL may be away for as long as a restart or a failover takes; the lease ends the waiting when it is lost. */
const DATABASE_TRIES = 30;
const RETRY_BASE_MS = 250;
const RETRY_CAP_MS = 4_000;

/** An output whose bytes are stored, and what they are stored from again if need be. */
interface KeptOutput {
  output: EngineOutput;
  draft: OutputDraft;
}

/** How the outputs of a run came out. `nodeId` is the node whose output could not be kept. */
export type OutputsEnd = { status: 'stored' } | { status: 'lease_lost' } | (OutputFault & { nodeId: string });

/**
 * Stores outputs while the run goes on: one after the other, in the order in which they landed, each recorded under the
 * attempt's fence while the bytes of the next are stored. Once one could not be stored those after it are dropped, because
 * the attempt has failed then, and the engine need not go on.
 *
 * The last output of a run that has succeeded is not recorded here where its bytes land after the run's end: it is left to be recorded with
 * the job's end, in one statement.
 */
export class OutputPipeline {
  private readonly names: OutputNames;
  /** Settles when the bytes of every output that was added are stored or given up. */
  private storing: Promise<unknown> = Promise.resolve();
  private recording: Promise<void> = Promise.resolve();
  private end: OutputsEnd = { status: 'stored' };
  /** The output that is the end of them; those after it are dropped. */
  private last = Number.POSITIVE_INFINITY;
  private ordinal = 0;
  /** The run has succeeded: no output comes after those that were added. */
  private isComplete = false;
  private left: KeptOutput | null = null;
  private readonly refusal = new AbortController();
  /** Whether any output was a file of the engine's. */
  hasFiles = false;

  constructor(
    private readonly claimed: ClaimedAttempt,
    private readonly assets: Pick<AssetService, 'storeOutput'>,
    private readonly recorder: Pick<OutputRecorder, 'record'>,
    classOf: (nodeId: string) => string,
    /** What landed before a cancel or a limit is kept, and billed: only the loss of the lease ends the tries before there were enough. */
    private readonly lease: Pick<LeaseKeeper, 'lost'>,
    private readonly maxOutputs: number,
    private readonly logger: Logger,
  ) {
    this.names = new OutputNames(classOf);
  }

  /** Aborts when an output was refused: the run cannot succeed any more. */
  get refused(): AbortSignal {
    return this.refusal.signal;
  }

  /** Take an output. Never throws; `settle` resolves to how it came out. */
  add(output: EngineOutput): void {
    const ordinal = this.ordinal;
    this.ordinal += 1;
    this.hasFiles ||= isFile(output);
    if (ordinal >= this.maxOutputs) return this.refuse(output, ordinal);
    const name = this.names.nameOf(output);
    const stored = this.storing.then(() => this.step(output, ordinal, () => this.store(output, name, ordinal)));
    this.storing = stored;
    this.recording = Promise.all([stored, this.recording]).then(async ([draft]) => {
      if (draft === null) return;
      if (this.isComplete && ordinal === this.ordinal - 1 && ordinal < this.last) this.left = { output, draft };
      else await this.step(output, ordinal, () => this.record({ output, draft }));
    });
  }

  /** The run has succeeded, so that no output is added from now on, and its last one may be recorded with the job's end. */
  complete(): void {
    this.isComplete = true;
  }

  /** The output that is stored and left to be recorded with the job's end; null where there is none. */
  get unrecorded(): OutputDraft | null {
    return this.left?.draft ?? null;
  }

  /** Record by itself what was left. @returns how the outputs came out then. */
  async recordUnrecorded(): Promise<OutputsEnd> {
    const { left } = this;
    this.left = null;
    if (left !== null) await this.step(left.output, left.draft.ordinal, () => this.record(left));
    return this.end;
  }

  /** One more than a job may have: it ends the run at once, not when those before it are stored. The rest costs nothing. */
  private refuse({ nodeId }: EngineOutput, ordinal: number): void {
    const reason = `a job may have ${this.maxOutputs} outputs, and this is one more; save fewer`;
    this.endAt(ordinal, { status: 'refused', reason, nodeId });
  }

  /** Resolves when every output that was added is recorded, left or given up. */
  async settle(): Promise<OutputsEnd> {
    await this.recording;
    return this.end;
  }

  /** Do a step of an output, unless one before it is the end of them. A step that fails is. Never rejects. */
  private async step<T>(
    output: Pick<EngineOutput, 'nodeId'>,
    ordinal: number,
    step: () => Promise<T>,
  ): Promise<T | null> {
    if (ordinal > this.last) return null;
    try {
      return await step();
    } catch (error) {
      this.logger.error({ err: error, job: this.claimed.jobId, node: output.nodeId }, 'an output could not be stored');
      this.endAt(ordinal, { ...outputFaultOf(error), nodeId: output.nodeId });
      return null;
    }
  }

  private endAt(ordinal: number, end: OutputsEnd): void {
    if (ordinal > this.last) return;
    this.last = ordinal;
    this.end = end;
    if (end.status === 'refused') this.refusal.abort();
  }

  private async store(output: EngineOutput, name: string, ordinal: number): Promise<OutputDraft> {
    const stored = await this.retried(() => this.storeBytes(output, name));
    crashPoint('output:after-bytes');
    const { nodeId, index: nodeIndex } = output;
    return { nodeId, nodeIndex, ordinal, name, ...stored };
  }

  private async record({ output, draft }: KeptOutput): Promise<void> {
    const recorded = await this.recorded(output, draft);
    crashPoint('output:after-record');
    // What cannot be removed now goes with the attempt's folder.
    if (isFile(output)) void rm(output.path, { force: true }).catch(() => undefined);
    if (!recorded) this.endAt(draft.ordinal, { status: 'lease_lost' });
  }

  /**
   * Stores the bytes again where they are gone: an asset of the account had the same, and was erased since they were found there.
   *
   * @returns false when the lease is lost.
   */
  private async recorded(output: EngineOutput, first: OutputDraft): Promise<boolean> {
    for (let draft = first, tries = 1; ; tries += 1) {
      try {
        // Recording twice records once: the second takes the place of the first.
        return await this.retried(() => this.recorder.record(this.claimed, draft));
      } catch (error) {
        const isGone = error instanceof BlobStoreError && error.fault === 'missing';
        if (!isGone || tries >= STORE_TRIES || this.lease.lost.aborted) throw error;
      }
      draft = await this.store(output, draft.name, draft.ordinal);
    }
  }

  private async storeBytes(output: EngineOutput, name: string): Promise<StoredOutput> {
    const stored = await this.assets.storeOutput(this.claimed.accountId, sourceOf(output), { name });
    // A text that a node reports is text, even one that looks like something else.
    return isText(output) ? { ...stored, contentType: 'text/plain; charset=utf-8' } : stored;
  }

  private async retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const isUnreachable = error instanceof BlobStoreError && error.fault === 'unreachable';
        const tries = isUnreachable || isAltered(error) ? STORE_TRIES : isTransient(error) ? DATABASE_TRIES : 1;
        if (attempt + 1 >= tries || this.lease.lost.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS)));
      }
    }
  }
}

function isFile(output: EngineOutput): output is EngineOutput & { kind: 'file' | 'text_file' } {
  return output.kind === 'file' || output.kind === 'text_file';
}

function sourceOf(output: EngineOutput): Readable {
  if (isFile(output)) return createReadStream(output.path);
  return Readable.from([output.kind === 'bytes' ? output.bytes : Buffer.from(output.text)]);
}
