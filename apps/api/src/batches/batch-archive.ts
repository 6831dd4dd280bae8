import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ZipFile } from 'yazl';
import { BlobStoreError, ContentService } from '@millrace/assets';
import { Refusal, isTerminal, type JobStatus } from '@millrace/contracts';
import { Batches, type BatchJob, type JobScope } from '@millrace/jobs';
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
 * The outputs of a batch as one ZIP stream: of its jobs that have ended. One output is read at a time, as fast as the client takes it;
 * nothing is compressed, since pictures and sounds are already. What is in the archive is said at its end, in `manifest.json`.
 */
@Injectable()
export class BatchArchive {
  constructor(
    private readonly batches: Batches,
    private readonly content: ContentService,
  ) {}

  /** Send the archive. A client that stops reading ends it; an error after its begin cuts it off, so that it cannot be opened. */
  async send(response: Response, scope: JobScope, batchId: string): Promise<void> {
    const zip = new ZipFile();
    const output = zip.outputStream as Readable;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const filling = this.fill(zip, scope, batchId, gone.signal).catch((error: unknown) =>
      output.destroy(error as Error),
    );
    zip.on('error', (error: Error) => output.destroy(error));
    try {
      await pipeline(output, response);
    } catch (error) {
      if (!gone.signal.aborted && !response.destroyed) throw error;
    } finally {
      gone.abort();
      await filling;
    }
  }

  private async fill(zip: ZipFile, scope: JobScope, batchId: string, signal: AbortSignal): Promise<void> {
    const archived: Archived = { statuses: new Map(), missing: new Set() };
    for await (const { job, index } of this.batches.eachJob(scope, batchId)) {
      archived.statuses.set(index, job.status);
      if (!isTerminal(job.status)) continue;
      const paths = archivePaths(
        index,
        job.outputs.map(({ name }) => name),
      );
      for (const [at, output] of job.outputs.entries()) {
        signal.throwIfAborted();
        const body = await this.open(scope.accountId, output);
        if (body === null) archived.missing.add(output.assetId);
        else await add(zip, body, { path: paths[at] ?? '', mtime: job.completedAt ?? job.createdAt, signal });
      }
    }
    const manifest = Readable.from(this.manifest(scope, batchId, archived));
    await add(zip, manifest, { path: 'manifest.json', mtime: new Date(), signal });
    zip.end();
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

/** Add an entry, and wait until its bytes have been read. */
async function add(
  zip: ZipFile,
  body: Readable,
  { path, mtime, signal }: { path: string; mtime: Date; signal: AbortSignal },
): Promise<void> {
  try {
    zip.addReadStream(body, path, { compress: false, mtime });
    await finished(body, { signal });
  } finally {
    body.destroy();
  }
}
