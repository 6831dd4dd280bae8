import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Response } from 'express';
import type { ContentService } from '@millrace/assets';
import { Refusal, type JobStatus } from '@millrace/contracts';
import type { BatchJob, Batches, JobScope } from '@millrace/jobs';
import { BatchArchive } from './batch-archive';

const scope: JobScope = { accountId: 'an account', surface: 'cloud', deploymentId: null, labels: null };

function jobWith(index: number, status: JobStatus, outputs: string[], id = `job ${index}`): BatchJob {
  const job = {
    id,
    status,
    createdAt: new Date(0),
    completedAt: null,
    outputs: outputs.map((name) => ({
      nodeId: '1',
      name,
      assetId: name,
      contentType: 'text/plain',
      sizeBytes: 1,
      hash: '',
    })),
  };
  return { index, job: job as unknown as BatchJob['job'], place: null };
}

/**
 * The archive of a batch whose jobs look different each time that they are read.
 *
 * @param lost assets whose bytes are gone.
 * @param replaced jobs whose places others have taken, and that can be read still.
 * @returns its bytes, which are not compressed.
 */
async function archiveOf(readings: BatchJob[][], lost: string[] = [], replaced: BatchJob[] = []): Promise<string> {
  const batches = {
    eachJob: () => Readable.from(readings.shift() ?? []),
    jobBefore: (_: JobScope, { jobId }: { jobId: string }) =>
      Promise.resolve(replaced.find(({ job }) => job.id === jobId) ?? null),
  } as unknown as Batches;
  const content = {
    openInput: (_: string, id: string) =>
      lost.includes(id)
        ? Promise.reject(new Refusal('content_lost', 'Its bytes are gone.'))
        : Promise.resolve({ body: Readable.from([Buffer.from(`bytes of ${id}`)]) }),
  } as unknown as ContentService;
  const response = new PassThrough();
  const [bytes] = await Promise.all([
    buffer(response),
    new BatchArchive(batches, content).send(response as unknown as Response, {}, scope, 'a batch'),
  ]);
  return bytes.toString('latin1');
}

/** What the manifest at the end of an archive says of each job. */
function manifestIn(archive: string): object[] {
  const lines = archive.split('\n').filter((line) => line.startsWith('{"batch_index"'));
  return lines.map((line) => JSON.parse(line.replace(/,$/, '')) as object);
}

describe('the archive of a batch that runs', () => {
  it('has the jobs that have ended, and lists nothing that came while it was made', async () => {
    const archive = await archiveOf([
      [jobWith(0, 'succeeded', ['a.txt']), jobWith(1, 'running', ['half.txt'])],
      [jobWith(0, 'succeeded', ['a.txt']), jobWith(1, 'succeeded', ['b.txt'])],
    ]);
    expect(archive).toContain('bytes of a.txt');
    expect(archive).not.toMatch(/half\.txt|b\.txt/);
    expect(manifestIn(archive)).toEqual([
      expect.objectContaining({
        batch_index: 0,
        status: 'succeeded',
        outputs: [expect.objectContaining({ included: true })],
      }),
      { batch_index: 1, id: 'job 1', status: 'running', outputs: [] },
    ]);
  });
});

describe('the archive of a batch of which some bytes are gone', () => {
  it('has the others, and says which are not in it', async () => {
    const jobs = [jobWith(0, 'succeeded', ['a.txt', 'b.txt']), jobWith(1, 'succeeded', ['c.txt'])];
    const archive = await archiveOf([jobs, jobs], ['a.txt']);
    expect(archive).not.toContain('bytes of a.txt');
    expect(archive).toContain('bytes of b.txt');
    expect(manifestIn(archive)).toMatchObject([
      {
        outputs: [
          { name: 'a.txt', path: null, included: false },
          { path: '00000/b.txt', included: true },
        ],
      },
      { outputs: [{ path: '00001/c.txt', included: true }] },
    ]);
  });
});

describe('the archive of a batch that is retried while it is made', () => {
  const failed = [jobWith(0, 'failed', ['a.txt', 'b.txt']), jobWith(1, 'failed', ['c.txt'])];
  const again = [jobWith(0, 'succeeded', ['new.txt'], 'job 0 again'), jobWith(1, 'queued', [], 'job 1 again')];

  it('lists the jobs whose files are in it, and no file of those that took their places', async () => {
    const archive = await archiveOf([failed, again], ['b.txt'], failed);
    expect(archive).not.toContain('new.txt');
    expect(manifestIn(archive)).toMatchObject([
      {
        ...{ batch_index: 0, id: 'job 0', status: 'failed' },
        outputs: [
          { name: 'a.txt', path: '00000/a.txt', included: true },
          { name: 'b.txt', included: false },
        ],
      },
      { batch_index: 1, id: 'job 1', status: 'failed', outputs: [{ name: 'c.txt', included: true }] },
    ]);
  });

  it('has the status of those that cannot be read any more', async () => {
    expect(manifestIn(await archiveOf([failed, again]))).toEqual([
      { batch_index: 0, id: 'job 0', status: 'failed', outputs: [] },
      { batch_index: 1, id: 'job 1', status: 'failed', outputs: [] },
    ]);
  });
});
