import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BlobStoreError, type AssetService, type StoredOutput } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import { ConstraintError } from '@millrace/database';
import type { EngineOutput } from '@millrace/engines';
import { OutputRefused, type OutputRecorder } from '@millrace/jobs';
import { createLogger } from '@millrace/platform';
import { eventually } from '@millrace/testing';
import { claimedAttempt } from './fixtures/claimed-attempt';
import { LeaseKeeper } from './lease-keeper';
import { OutputPipeline } from './output-pipeline';

const claimed = claimedAttempt();
const stored: StoredOutput = {
  blob: { accountId: 'account', hash: 'blake3:0', bornAt: new Date(), sizeBytes: 1 },
  contentType: 'text/plain',
};
const output = (index: number): EngineOutput => ({ nodeId: '1', index, kind: 'text', text: 'made' });

const numberOf = (name: string): string => /\d+(?=\.txt$)/.exec(name)?.[0] ?? name;

/** Outputs that a job may have. */
const MAX_OUTPUTS = 3;

/** What was done, in the order in which it began; each step ends when the test says how. */
class Steps {
  readonly begun: string[] = [];
  private readonly open = new Map<string, { resolve: (value: boolean) => void; reject: (error: Error) => void }>();
  readonly pipeline: OutputPipeline;

  constructor() {
    const assets: Pick<AssetService, 'storeOutput'> = {
      storeOutput: async (_account, _source, { name }) => {
        await this.begin(`store ${numberOf(name)}`);
        return stored;
      },
    };
    const recorder: Pick<OutputRecorder, 'record'> = {
      record: (_fence, { name }) => this.begin(`record ${numberOf(name)}`),
    };
    const logger = createLogger('test', 'silent');
    this.pipeline = new OutputPipeline(
      claimed,
      assets,
      recorder,
      () => 'Show',
      { lost: new AbortController().signal },
      MAX_OUTPUTS,
      logger,
    );
  }

  private begin(name: string): Promise<boolean> {
    this.begun.push(name);
    return new Promise((resolve, reject) => this.open.set(name, { resolve, reject }));
  }

  async end(name: string, value = true): Promise<void> {
    this.open.get(name)?.resolve(value);
    await settled();
  }

  async fail(name: string, error: Error = new BlobStoreError('full', 'no room is left')): Promise<void> {
    this.open.get(name)?.reject(error);
    await settled();
  }
}

/** Resolves when everything that follows from what has happened has begun. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let steps: Steps;
afterEach(() => jest.useRealTimers());
beforeEach(async () => {
  steps = new Steps();
  for (const index of [0, 1, 2]) steps.pipeline.add(output(index));
  await settled();
});

describe('outputs', () => {
  it('are stored one at a time, and recorded in order while the next is stored', async () => {
    expect(steps.begun).toEqual(['store 1']);
    await steps.end('store 1');
    await steps.end('store 2');
    await steps.end('store 3');
    expect(steps.begun.filter((name) => name.startsWith('record'))).toEqual(['record 1']);
    await steps.end('record 1');
    await steps.end('record 2');
    await steps.end('record 3');
    expect(await steps.pipeline.settle()).toEqual({ status: 'stored' });
  });

  it('that were stored before one that could not be are recorded, and those after it are dropped', async () => {
    await steps.end('store 1');
    await steps.fail('store 2');
    await steps.end('record 1');
    expect(await steps.pipeline.settle()).toMatchObject({ status: 'failed' });
    expect(steps.begun).toEqual(['store 1', 'store 2', 'record 1']);
  });

  it('of an attempt that has lost its lease are dropped, however those under way end', async () => {
    await steps.end('store 1');
    await steps.end('record 1', false);
    await steps.fail('store 2');
    expect(await steps.pipeline.settle()).toEqual({ status: 'lease_lost' });
    expect(steps.begun).not.toContain('store 3');
  });

  it.each<[string, Error, status: string]>([
    ['the store is full', new BlobStoreError('full', 'no room'), 'failed'],
    ['the store refuses us', new BlobStoreError('denied', 'no'), 'failed'],
    ['the database has no connection', Object.assign(new Error('no'), { code: 'P2024' }), 'failed'],
    ["the worker's disk is broken", Object.assign(new Error('no'), { code: 'EIO', syscall: 'read' }), 'failed'],
    ['it is larger than the store takes', new BlobStoreError('too_large', 'no'), 'refused'],
    ['it is larger than a file may be', new Refusal('payload_too_large', 'The file is too large.'), 'refused'],
    ['no record can be made of it', new OutputRefused('the id of the node is too long'), 'refused'],
    ['a constraint forbids it', new ConstraintError('unique', 'job_outputs_name_key'), 'refused'],
    ['its file is not there', Object.assign(new Error('timeout.png'), { code: 'ENOENT', syscall: 'open' }), 'refused'],
    ['nobody knows why', new Error('the connection of two nodes timed out'), 'refused'],
  ])('that cannot be kept because %s: %#', async (_name, error, status) => {
    const pipeline = new OutputPipeline(
      claimed,
      { storeOutput: () => Promise.reject(error) },
      { record: () => Promise.resolve(true) },
      () => 'Show',
      { lost: AbortSignal.abort() },
      MAX_OUTPUTS,
      createLogger('test', 'silent'),
    );
    pipeline.add(output(0));
    expect(await pipeline.settle()).toMatchObject({ status, nodeId: '1' });
    expect(pipeline.refused.aborted).toBe(status === 'refused');
  });

  it.each<[string, Error, times: number]>([
    ['the database has no connection', Object.assign(new Error('no'), { code: 'P2024' }), 10],
    ['the store does not answer', new BlobStoreError('unreachable', 'no answer'), 3],
    ['bytes are altered on the way', new Refusal('hash_mismatch', 'Other bytes arrived.'), 3],
  ])('are stored after all where %s for a while', async (_name, error, times) => {
    jest.useFakeTimers();
    let tries = 0;
    const again = async <T>(value: T): Promise<T> => {
      tries += 1;
      if (tries <= times) throw error;
      return value;
    };
    const pipeline = new OutputPipeline(
      claimed,
      { storeOutput: () => again(stored) },
      { record: () => Promise.resolve(true) },
      () => 'Show',
      { lost: new AbortController().signal },
      MAX_OUTPUTS,
      createLogger('test', 'silent'),
    );
    pipeline.add(output(0));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await pipeline.settle()).toEqual({ status: 'stored' });
    expect(tries).toBe(times + 1);
  });

  it.each([
    ['is canceled', { status: 'canceling' as const, exhausted: false, overtime: false }],
    ['has used up its credits', { status: 'running' as const, exhausted: true, overtime: false }],
    ['has reached its time limit', { status: 'running' as const, exhausted: false, overtime: true }],
  ])('are stored and recorded after all where their run %s and a step of each fails once', async (_why, answer) => {
    jest.useFakeTimers();
    const logger = createLogger('test', 'silent');
    const run = { progress: null, engineMs: 0 };
    const lease = new LeaseKeeper({ heartbeat: () => Promise.resolve(answer) }, claimed, 60_000, run, logger);
    await lease.beat();
    expect(lease.signal.aborted).toBe(true);
    const store = jest.fn().mockRejectedValueOnce(new BlobStoreError('unreachable', 'no')).mockResolvedValue(stored);
    const noConnection = Object.assign(new Error('no'), { code: 'P2024' });
    const record = jest.fn().mockRejectedValueOnce(noConnection).mockResolvedValue(true);
    const pipeline = new OutputPipeline(
      claimed,
      { storeOutput: store },
      { record },
      () => 'Show',
      lease,
      MAX_OUTPUTS,
      logger,
    );
    pipeline.add(output(0));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await pipeline.settle()).toEqual({ status: 'stored' });
    expect([store.mock.calls.length, record.mock.calls.length]).toEqual([2, 2]);
    await lease.close();
  });

  it('that are texts are stored as text also from a file, which is removed then', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'text-output-')), 'made.txt');
    writeFileSync(path, '<svg>');
    const recorded: unknown[] = [];
    const pipeline = new OutputPipeline(
      claimed,
      {
        storeOutput: async (_account, source) => {
          expect(await text(source)).toBe('<svg>');
          return { ...stored, contentType: 'image/svg+xml' };
        },
      },
      { record: (_fence, draft) => Promise.resolve(recorded.push(draft) > 0) },
      () => 'Show',
      { lost: new AbortController().signal },
      MAX_OUTPUTS,
      createLogger('test', 'silent'),
    );
    pipeline.add({ nodeId: '1', index: 0, kind: 'text_file', path });
    expect(await pipeline.settle()).toEqual({ status: 'stored' });
    expect(recorded).toMatchObject([{ name: 'Show_1_1.txt', contentType: 'text/plain; charset=utf-8' }]);
    expect(pipeline.hasFiles).toBe(true);
    await eventually('the file is removed', () => !existsSync(path));
  });

  it.each([false, true])(
    'whose bytes are erased before they are recorded are stored again: last, %s',
    async (isLast) => {
      const path = join(mkdtempSync(join(tmpdir(), 'erased-output-')), 'made.txt');
      writeFileSync(path, 'made');
      const read: string[] = [];
      const recorded: Date[] = [];
      const again = { ...stored, blob: { ...stored.blob, bornAt: new Date(0) } };
      const pipeline = new OutputPipeline(
        claimed,
        { storeOutput: async (_account, source) => (read.push(await text(source)) === 1 ? stored : again) },
        {
          record: (_fence, { blob }) =>
            recorded.push(blob.bornAt) === 1
              ? Promise.reject(new BlobStoreError('missing', 'gone'))
              : Promise.resolve(true),
        },
        () => 'Show',
        { lost: new AbortController().signal },
        MAX_OUTPUTS,
        createLogger('test', 'silent'),
      );
      pipeline.add({ nodeId: '1', index: 0, kind: 'text_file', path });
      if (isLast) pipeline.complete();
      expect(await pipeline.settle()).toEqual({ status: 'stored' });
      if (isLast) expect(await pipeline.recordUnrecorded()).toEqual({ status: 'stored' });
      expect(read).toEqual(['made', 'made']);
      expect(recorded).toEqual([stored.blob.bornAt, again.blob.bornAt]);
      await eventually('the file is removed', () => !existsSync(path));
    },
  );

  it('whose bytes are gone however often they are stored are given up', async () => {
    for (const name of ['store 1', 'record 1', 'store 1', 'record 1', 'store 1', 'record 1', 'store 1']) {
      if (name.startsWith('store')) await steps.end(name);
      else await steps.fail(name, new BlobStoreError('missing', 'gone'));
    }
    await steps.fail('record 1', new BlobStoreError('missing', 'gone'));
    for (const name of ['store 2', 'store 3']) await steps.end(name);
    expect(await steps.pipeline.settle()).toMatchObject({ status: 'failed' });
    expect(steps.begun.filter((name) => name === 'store 1')).toHaveLength(4);
  });

  it('beyond as many as a job may have end the run at once, and are not stored', async () => {
    for (const index of [3, 4, 5]) steps.pipeline.add(output(index));
    expect([steps.begun, steps.pipeline.refused.aborted]).toEqual([['store 1'], true]);
    for (const n of [1, 2, 3]) {
      await steps.end(`store ${n}`);
      await steps.end(`record ${n}`);
    }
    expect(await steps.pipeline.settle()).toMatchObject({ status: 'refused', nodeId: '1' });
    expect(steps.begun.filter((name) => name.startsWith('store'))).toEqual(['store 1', 'store 2', 'store 3']);
    expect(steps.pipeline.refused.aborted).toBe(true);
  });

  it('that land after the run has succeeded are recorded, but the last one, which is left to the end of the job', async () => {
    await steps.end('store 1');
    steps.pipeline.complete();
    await steps.end('store 2');
    await steps.end('store 3');
    await steps.end('record 1');
    await steps.end('record 2');
    expect(await steps.pipeline.settle()).toEqual({ status: 'stored' });
    expect(steps.begun).not.toContain('record 3');
    expect(steps.pipeline.unrecorded).toMatchObject({ ordinal: 2 });

    const recorded = steps.pipeline.recordUnrecorded();
    await steps.end('record 3', false);
    expect(await recorded).toEqual({ status: 'lease_lost' });
    expect(steps.pipeline.unrecorded).toBeNull();
    expect(await steps.pipeline.recordUnrecorded()).toEqual({ status: 'lease_lost' });
  });

  it('are all recorded where the run ends after the last one', async () => {
    for (const n of [1, 2, 3]) {
      await steps.end(`store ${n}`);
      await steps.end(`record ${n}`);
    }
    steps.pipeline.complete();
    expect(await steps.pipeline.settle()).toEqual({ status: 'stored' });
    expect(steps.pipeline.unrecorded).toBeNull();
  });

  it('leave nothing to the end of the job where one before the last could not be recorded', async () => {
    steps.pipeline.complete();
    await steps.end('store 1');
    await steps.end('store 2');
    await steps.end('store 3');
    await steps.end('record 1');
    await steps.fail('record 2', new OutputRefused('its name is taken'));
    expect(await steps.pipeline.settle()).toMatchObject({ status: 'refused' });
    expect(steps.pipeline.unrecorded).toBeNull();
  });
});
