import type { Statements } from '@millrace/database';
import type { JobRecord, JobScope } from '../state';
import type { BatchRecord } from './batch';
import type { BatchStore } from './batch.store';
import { Batches } from './batches.service';

const SCOPE: JobScope = { accountId: 'an-account', surface: 'cloud', deploymentId: null, labels: null };

/** A batch whose jobs have so many outputs each. */
function batchOf(outputs: readonly number[]): Batches {
  const all = outputs.map((count, index) => ({ jobId: `job-${index}`, index, outputs: count }));
  const store: Pick<BatchStore, 'exists' | 'places'> = {
    exists: () => Promise.resolve(true),
    places: (_, __, { after, limit }) => Promise.resolve(all.filter(({ index }) => index > after).slice(0, limit)),
  };
  const jobs = {
    findEach: (_: Statements, asked: readonly { jobId: string }[]) =>
      Promise.resolve(asked.map(({ jobId }) => ({ id: jobId }) as JobRecord)),
  };
  const reads = {
    queuePlaces: () => Promise.resolve(new Map()),
    withLiveProgress: (found: readonly JobRecord[]) => Promise.resolve([...found]),
  };
  const lifecycle = { cancel: () => Promise.reject(new Error('nothing is canceled here')) };
  return new Batches({} as Statements, store as BatchStore, jobs, reads, lifecycle, 0);
}

/** The places of the jobs of each page. */
async function pagesOf(batch: Batches, limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  for (let cursor: string | null | undefined = null; cursor !== undefined;) {
    const page: Awaited<ReturnType<Batches['listJobs']>> = await batch.listJobs(SCOPE, 'a-batch', {
      ...{ cursor, limit },
      status: null,
    });
    pages.push(page.items.map(({ index }) => index));
    cursor = page.nextCursor;
  }
  return pages;
}

describe('a page of the jobs of a batch', () => {
  it('ends with the job that has its thousandth output, and the next begins with the job after', async () => {
    expect(await pagesOf(batchOf([600, 399, 1, 5, 1_000, 1_000, 0]), 100)).toEqual([[0, 1, 2], [3, 4], [5], [6]]);
    expect(await pagesOf(batchOf([1_000, 1_000]), 100)).toEqual([[0], [1]]);
  });

  it('has as many jobs as were asked for where they have few outputs', async () => {
    expect(await pagesOf(batchOf([1, 0, 2, 1, 0]), 2)).toEqual([[0, 1], [2, 3], [4]]);
    expect(await pagesOf(batchOf([1, 0]), 2)).toEqual([[0, 1]]);
  });

  it('is one of a batch that is read job by job', async () => {
    const read: number[] = [];
    for await (const { index } of batchOf([900, 900, 900, 1]).eachJob(SCOPE, 'a-batch')) read.push(index);
    expect(read).toEqual([0, 1, 2, 3]);
  });
});

describe('the jobs of a batch, read one by one', () => {
  it('are read to the last by however many at once, more than may wait for a list', async () => {
    const batch = batchOf([1_000, 1_000, 0]);
    const readAll = async (): Promise<number> => {
      let jobs = 0;
      for await (const { index } of batch.eachJob(SCOPE, 'a-batch')) jobs += index >= 0 ? 1 : 0;
      return jobs;
    };
    const reads = Array.from({ length: 102 }, readAll);
    expect(new Set(await Promise.all(reads))).toEqual(new Set([3]));
  });
});

describe('readings of batches', () => {
  const batch = { id: 'a-batch' } as BatchRecord;
  /** Readings that are under way until they are released. */
  function world(): { batches: Batches; begun: string[]; release: () => void } {
    const begun: string[] = [];
    const gates: (() => void)[] = [];
    const find: BatchStore['find'] = async (_, __, id) => {
      begun.push(id);
      await new Promise<void>((open) => gates.push(open));
      return batch;
    };
    const none = {} as never;
    return {
      batches: new Batches(none, { find } as BatchStore, none, none, none, 0),
      begun,
      release: () => gates.shift()?.(),
    };
  }
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

  it('are shared by polls of one batch that come together', async () => {
    const { batches, begun, release } = world();
    const polls = Array.from({ length: 100 }, () => batches.get(SCOPE, 'a-batch'));
    await turn();
    release();
    await polls[0];
    await turn();
    release();
    expect(new Set(await Promise.all(polls))).toEqual(new Set([batch]));
    expect(begun).toEqual(['a-batch', 'a-batch']);
  });

  it('of an account take turns, and those of another do not wait for them', async () => {
    const { batches, begun, release } = world();
    const polls = [batches.get(SCOPE, 'one'), batches.get(SCOPE, 'two')];
    const other = batches.get({ ...SCOPE, accountId: 'another' }, 'three');
    await turn();
    expect(begun).toEqual(['one', 'three']);
    release();
    release();
    await Promise.all([polls[0], other]);
    while (begun.length < 3) await turn();
    release();
    await polls[1];
    expect(begun).toEqual(['one', 'three', 'two']);
  });
});
