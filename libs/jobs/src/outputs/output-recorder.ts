import { blobGone, outputTypeOf, type StoredBlob } from '@millrace/assets';
import { newId } from '@millrace/contracts';
import { ConstraintError, RefusedError, type Statements } from '@millrace/database';
import type { JobEvents } from '../lifecycle';
import type { Fence } from '../state';
import {
  OUTPUT_OVERTAKEN,
  TOO_MANY_OUTPUTS,
  type OutputRow,
  type OutputStore,
  type RecordedOutput,
} from './output.store';

/** An output whose bytes are stored and that is not recorded yet. */
export interface OutputDraft {
  nodeId: string;
  /** Position among the outputs of its node. */
  nodeIndex: number;
  /** Position among the outputs of its attempt. */
  ordinal: number;
  name: string;
  contentType: string;
  blob: StoredBlob;
}

/** An output that cannot be recorded as its graph made it; `message` is a part of a sentence, with the cure. */
export class OutputRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OutputRefused';
  }
}

/** Records outputs as they land, under the fence of their attempt. */
export class OutputRecorder {
  constructor(
    private readonly database: Statements,
    private readonly store: OutputStore,
    private readonly events: Pick<JobEvents, 'outputRecorded'>,
  ) {}

  /**
   * Make an output part of its job. One that a lost attempt recorded for the same place is replaced.
   *
   * @returns false when the lease is lost: nothing was recorded.
   * @throws BlobStoreError when the bytes are gone again; OutputRefused when no record can be made of it.
   */
  async record(fence: Fence, draft: OutputDraft): Promise<boolean> {
    const { blob, contentType, name, ...place } = draft;
    const type = outputTypeOf(contentType, name);
    const outcome = await this.inTurn(fence, { ...place, type, asset: { id: newId(), blob, contentType, name } });
    if (outcome === 'blob_gone') throw blobGone(blob);
    if (outcome === 'recorded') this.events.outputRecorded(fence.jobId, draft.ordinal);
    return outcome === 'recorded';
  }

  /** Each time it is overtaken, another has recorded; there are as many of those as the attempt has tries. */
  private async inTurn(fence: Fence, output: OutputRow): Promise<RecordedOutput> {
    for (;;) {
      try {
        return await this.store.record(this.database, fence, output);
      } catch (error) {
        if (!(error instanceof RefusedError) || error.reason !== OUTPUT_OVERTAKEN) throw refusalOf(error);
      }
    }
  }
}

/** Why an output cannot be recorded; an error that says nothing of the output is returned as it is. */
function refusalOf(error: unknown): unknown {
  if (error instanceof RefusedError && error.reason === TOO_MANY_OUTPUTS) {
    return new OutputRefused('the job has as many outputs as it may have; save fewer');
  }
  if (!(error instanceof ConstraintError) || !error.constraint.startsWith('job_outputs_')) return error;
  return new OutputRefused(
    error.kind === 'check'
      ? 'the id of the node or the name of the file is too long; use at most 1,024 bytes'
      : 'its name cannot be distinguished from that of another output; name the file differently',
  );
}
