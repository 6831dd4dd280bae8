import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedAttempt } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/**
 * The folders of one attempt: one that its engine makes where it writes files, and one for its inputs where it has any. Many attempts have
 * neither, and cost the disk nothing.
 */
export class AttemptFiles {
  /** Where the engine may write. Not there yet. */
  readonly outputs: string;
  /** Whether the engine may have written there. */
  mayHaveOutputs = false;
  private readonly inputs: string;
  private hasInputs = false;

  /** @param place the folder for the files of all attempts of the worker. */
  constructor(
    place: string,
    { attempt, jobId }: Pick<ClaimedAttempt, 'jobId' | 'attempt'>,
    private readonly logger: Logger,
  ) {
    this.outputs = join(place, `${jobId}.${attempt}`);
    this.inputs = `${this.outputs}.inputs`;
  }

  /** Make the folder for inputs, where the job has any. @returns its path. @throws what the disk says. */
  async makeInputs(): Promise<string> {
    this.hasInputs = true;
    await mkdir(this.inputs, { recursive: true });
    return this.inputs;
  }

  /** Remove everything. Never rejects. */
  async remove(): Promise<void> {
    const made = [...(this.mayHaveOutputs ? [this.outputs] : []), ...(this.hasInputs ? [this.inputs] : [])];
    for (const removal of await Promise.allSettled(made.map((path) => rm(path, { recursive: true, force: true })))) {
      if (removal.status === 'rejected') {
        this.logger.warn({ err: removal.reason as unknown }, 'the files of an attempt could not be removed');
      }
    }
  }
}
