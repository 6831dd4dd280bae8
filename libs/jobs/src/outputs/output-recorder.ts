import { blobGone, outputTypeOf, type StoredBlob } from '@millrace/assets';
import { newId } from '@millrace/contracts';
import { ConstraintError, RefusedError, isTransient, isUndone, type Statements } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import type { AttemptResult, JobEvents, Lifecycle } from '../lifecycle';
import type { Fence } from '../state';
import { withLastOutput } from './last-output.store';
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
    private readonly lifecycle: Pick<Lifecycle, 'finish'>,
    private readonly settings: Pick<JobSettings, 'maxOutputsPerJob'>,
  ) {}

  /**
   * Make an output part of its job. One that a lost attempt recorded for the same place is replaced.
   *
   * @returns false when the lease is lost: nothing was recorded.
   * @throws BlobStoreError when the bytes are gone again; OutputRefused when no record can be made of it.
   */
  async record(fence: Fence, draft: OutputDraft): Promise<boolean> {
    const outcome = await this.inTurn(fence, rowOf(draft));
    if (outcome === 'blob_gone') throw blobGone(draft.blob);
    if (outcome === 'recorded') this.events.outputRecorded(fence.jobId, draft.ordinal);
    return outcome === 'recorded';
  }

  /**
   * End a job that has succeeded together with its last output: one statement, one commit. Who follows the job reads the output with
   * its end.
   *
   * @returns true when nothing is left to do: both are recorded, or neither, because the lease is lost. False where the two
   * cannot go together: nothing was recorded, and `record`, then an end without the output, decide.
   */
  async finish(fence: Fence, result: AttemptResult, last: OutputDraft): Promise<boolean> {
    try {
      await this.lifecycle.finish(fence, result, withLastOutput(rowOf(last), this.settings));
      return true;
    } catch (error) {
      if (isUndone(error) && !isTransient(error)) return false;
      throw error;
    }
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

function rowOf({ blob, contentType, name, ...place }: OutputDraft): OutputRow {
  return { ...place, type: outputTypeOf(contentType, name), asset: { id: newId(), blob, contentType, name } };
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
