import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobStoreError, ContentService } from '@millrace/assets';
import { Refusal, isTerminal, type JobStatus } from '@millrace/contracts';
import { Batches, type BatchJob, type JobScope } from '@millrace/jobs';
import { sendZip, type ZipEntry } from '../http';
import { archivePaths } from './archive-names';

type Output = BatchJob['job']['outputs'][number];

/** A job as it was when its outputs were read: only those of ended jobs are, which change no more. */
interface ArchivedJob {
  id: string;
  status: JobStatus;
  /** The places of outputs whose bytes are not there any more. */
  missing: Set<number> | null;
}

/** What an archive has so far, by the index of the job. A retry may give that to another job meanwhile. */
type Archived = Map<number, ArchivedJob>;

/**
 * The outputs of a batch as one ZIP stream: of its jobs that have ended. What is in the archive is said at its end, in `manifest.json`.
 */
@Injectable()
export class BatchArchive {
  constructor(
    private readonly batches: Batches,
    private readonly content: ContentService,
  ) {}

  /** Send the archive. @throws what could not be read; where that is the first of it, nothing has been sent. */
  send(response: ServerResponse, headers: OutgoingHttpHeaders, scope: JobScope, batchId: string): Promise<void> {
    return sendZip(response, headers, this.files(scope, batchId));
  }

  private async *files(scope: JobScope, batchId: string): AsyncGenerator<ZipEntry, void, void> {
    const archived: Archived = new Map();
    for await (const { job, index } of this.batches.eachJob(scope, batchId)) {
      const noted: ArchivedJob = { id: job.id, status: job.status, missing: null };
      archived.set(index, noted);
      if (!isTerminal(job.status)) continue;
      const paths = archivePaths(
        index,
        job.outputs.map(({ name }) => name),
      );
      for (const [at, output] of job.outputs.entries()) {
        const body = await this.open(scope.accountId, output);
        if (body === null) (noted.missing ??= new Set()).add(at);
        else yield { body, path: paths[at] ?? '', mtime: job.completedAt ?? job.createdAt };
      }
    }
    const body = Readable.from(this.manifest(scope, batchId, archived));
    yield { body, path: 'manifest.json', mtime: new Date() };
  }

  /** @returns null when the bytes are gone. */
  private async open(accountId: string, { assetId }: Output): Promise<Readable | null> {
    try {
      return (await this.content.openInput(accountId, assetId)).body;
    } catch (error) {
      if (error instanceof Refusal || (error instanceof BlobStoreError && error.fault === 'missing')) return null;
      throw error;
    }
  }

  /** Read again from the jobs: an archive of a million outputs has a list of them that is not kept in memory. */
  private async *manifest(scope: JobScope, batchId: string, archived: Archived): AsyncGenerator<string> {
    yield `{"batch_id":${JSON.stringify(batchId)},"jobs":[`;
    let separator = '\n';
    for await (const read of this.batches.eachJob(scope, batchId)) {
      const { index } = read;
      const { id, status, missing } = archived.get(index) ?? { ...read.job, missing: null };
      const job = archived.has(index) && isTerminal(status) ? await this.archivedJob(scope, id, read) : null;
      const outputs = job === null ? [] : manifestOf(job, index, missing);
      yield `${separator}${JSON.stringify({ batch_index: index, id, status, outputs })}`;
      separator = ',\n';
    }
    yield '\n]}\n';
  }

  /** @param read what has its place now. @returns null when it is gone. */
  private async archivedJob(scope: JobScope, id: string, read: BatchJob): Promise<BatchJob['job'] | null> {
    const { index, job } = read;
    if (job.id === id) return job;
    return (await this.batches.jobBefore(scope, { jobId: id, index }))?.job ?? null;
  }
}

function manifestOf({ outputs }: BatchJob['job'], index: number, missing: ReadonlySet<number> | null): object[] {
  const paths = archivePaths(
    index,
    outputs.map(({ name }) => name),
  );
  return outputs.map((output, at) => ({
    path: missing?.has(at) === true ? null : paths[at],
    node_id: output.nodeId,
    name: output.name,
    content_type: output.contentType,
    size_bytes: output.sizeBytes,
    hash: output.hash,
    included: missing?.has(at) !== true,
  }));
}
