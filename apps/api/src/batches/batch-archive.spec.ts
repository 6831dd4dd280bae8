import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Response } from 'express';
import type { ContentService } from '@millrace/assets';
import type { JobStatus } from '@millrace/contracts';
import type { BatchJob, Batches, JobScope } from '@millrace/jobs';
import { BatchArchive } from './batch-archive';

const scope: JobScope = { accountId: 'an account', surface: 'cloud', deploymentId: null, labels: null };

function jobWith(index: number, status: JobStatus, outputs: string[]): BatchJob {
  const job = {
    id: `job ${index}`,
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

/** The archive of a batch whose jobs look different each time that they are read. @returns its bytes, which are not compressed. */
async function archiveOf(readings: BatchJob[][]): Promise<string> {
  const batches = { eachJob: () => Readable.from(readings.shift() ?? []) } as unknown as Batches;
  const content = {
    openInput: (_: string, id: string) => Promise.resolve({ body: Readable.from([Buffer.from(`bytes of ${id}`)]) }),
  } as unknown as ContentService;
  const response = new PassThrough();
  const [bytes] = await Promise.all([
    buffer(response),
    new BatchArchive(batches, content).send(response as unknown as Response, scope, 'a batch'),
  ]);
  return bytes.toString('latin1');
}

describe('the archive of a batch that runs', () => {
  it('has the jobs that have ended, and lists nothing that came while it was made', async () => {
    const archive = await archiveOf([
      [jobWith(0, 'succeeded', ['a.txt']), jobWith(1, 'running', ['half.txt'])],
      [jobWith(0, 'succeeded', ['a.txt']), jobWith(1, 'succeeded', ['b.txt'])],
    ]);
    expect(archive).toContain('bytes of a.txt');
    expect(archive).not.toMatch(/half\.txt|b\.txt/);
    const lines = archive.split('\n').filter((line) => line.startsWith('{"batch_index"'));
    expect(lines.map((line) => JSON.parse(line.replace(/,$/, '')) as object)).toEqual([
      expect.objectContaining({
        batch_index: 0,
        status: 'succeeded',
        outputs: [expect.objectContaining({ included: true })],
      }),
      { batch_index: 1, id: 'job 1', status: 'running', outputs: [] },
    ]);
  });
});
