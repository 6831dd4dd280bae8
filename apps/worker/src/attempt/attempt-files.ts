import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedAttempt } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/**
 * The folders of one attempt: one for what its engine writes, and one for its inputs where it has any. Most attempts leave the first empty,
 * so making it and removing it are one call each.
 */
export class AttemptFiles {
  private readonly outputs: string;
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

  /** Make the folder for outputs. @returns its path. @throws what the disk says. */
  async makeOutputs(): Promise<string> {
    await mkdir(this.outputs, { recursive: true });
    return this.outputs;
  }

  /** Make the folder for inputs, where the job has any. @returns its path. @throws what the disk says. */
  async makeInputs(): Promise<string> {
    this.hasInputs = true;
    await mkdir(this.inputs, { recursive: true });
    return this.inputs;
  }

  /** Remove everything. Never rejects. */
  async remove(): Promise<void> {
    const removals = [removeFolder(this.outputs)];
    if (this.hasInputs) removals.push(rm(this.inputs, { recursive: true, force: true }));
    for (const removal of await Promise.allSettled(removals)) {
      if (removal.status === 'rejected') {
        this.logger.warn({ err: removal.reason as unknown }, 'the files of an attempt could not be removed');
      }
    }
  }
}

/** Remove a folder that is empty most of the time: looking into it would cost more than the removal does. */
async function removeFolder(path: string): Promise<void> {
  await rmdir(path).catch(() => rm(path, { recursive: true, force: true }));
}
