import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { BlobStoreError, ContentService } from '@millrace/assets';
import { Refusal, isTerminal, type JobStatus } from '@millrace/contracts';
import { Batches, type BatchJob, type JobScope } from '@millrace/jobs';
import { sendZip, type AddEntry } from '../http';
import { archivePaths } from './archive-names';

type Output = BatchJob['job']['outputs'][number];

/** What an archive has so far. */
interface Archived {
  /** Of every job when its outputs were read, by its index: only those of ended jobs are, which change no more. */
  statuses: Map<number, JobStatus>;
  /** Assets whose bytes are not there any more. */
  missing: Set<string>;
}

/**
 * The outputs of a batch as one ZIP stream: of its jobs that have ended. What is in the archive is said at its end, in `manifest.json`.
 */
@Injectable()
export class BatchArchive {
  constructor(
    private readonly batches: Batches,
    private readonly content: ContentService,
  ) {}

  /** Send the archive. */
  send(response: Response, scope: JobScope, batchId: string): Promise<void> {
    return sendZip(response, (add) => this.fill(add, scope, batchId));
  }

  private async fill(add: AddEntry, scope: JobScope, batchId: string): Promise<void> {
    const archived: Archived = { statuses: new Map(), missing: new Set() };
    for await (const { job, index } of this.batches.eachJob(scope, batchId)) {
      archived.statuses.set(index, job.status);
      if (!isTerminal(job.status)) continue;
      const paths = archivePaths(
        index,
        job.outputs.map(({ name }) => name),
      );
      for (const [at, output] of job.outputs.entries()) {
        const body = await this.open(scope.accountId, output);
        if (body === null) archived.missing.add(output.assetId);
        else await add({ body, path: paths[at] ?? '', mtime: job.completedAt ?? job.createdAt });
      }
    }
    const body = Readable.from(this.manifest(scope, batchId, archived));
    await add({ body, path: 'manifest.json', mtime: new Date() });
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
    const { statuses, missing } = archived;
    yield `{"batch_id":${JSON.stringify(batchId)},"jobs":[`;
    let separator = '\n';
    for await (const { job, index } of this.batches.eachJob(scope, batchId)) {
      const status = statuses.get(index);
      const outputs = status !== undefined && isTerminal(status) ? manifestOf(job, index, missing) : [];
      yield `${separator}${JSON.stringify({ batch_index: index, id: job.id, status: status ?? job.status, outputs })}`;
      separator = ',\n';
    }
    yield '\n]}\n';
  }
}

function manifestOf({ outputs }: BatchJob['job'], index: number, missing: ReadonlySet<string>): object[] {
  const paths = archivePaths(
    index,
    outputs.map(({ name }) => name),
  );
  return outputs.map((output, at) => ({
    path: missing.has(output.assetId) ? null : paths[at],
    node_id: output.nodeId,
    name: output.name,
    content_type: output.contentType,
    size_bytes: output.sizeBytes,
    hash: output.hash,
    included: !missing.has(output.assetId),
  }));
}
