import { availableParallelism } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { Piscina } from 'piscina';
import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { textOfCatalogue, type Target } from '@millrace/deployments';
import type { Rest } from '@millrace/platform';
import { limitsOfRuns } from '@millrace/workflow';
import type {
  BatchOutline,
  ExaminationResult,
  ExaminationTask,
  SharedCatalogue,
  SliceResult,
  SliceTask,
} from './examination';
import type { ExaminedSlice, UndecidedSlice } from './examine-batch.step';
import { examineSubmission, type ExaminedJob } from './examine-submission.step';
import { isFaulty, refusalOfGraph, unlistedNames, type FaultyGraph, type KnownModels } from './faulty-graph';
import { decidedFaultOf } from './item-fault';
import { readSubmission } from './read-submission.step';

/**
 * Larger submissions are examined in a thread, and may wait for one. Who submits for accounts lets each have one of these at a
 * time, so that no account fills the queue of the threads. The event loop spends up to 6 ms on 32 KiB.
 */
export const SMALL_SUBMISSION_BYTES = 32_768;

export interface ExaminerLimits {
  /** Larger bodies are examined in a thread. */
  inlineBytes: number;
  threads: number;
  /** Submissions that may wait for a thread. */
  waiting: number;
  /** JavaScript objects of one thread, in MiB. A body of 10 MiB and 100,000 values takes 32 to 48. */
  heapMib: number;
  /** Waiting included. */
  timeoutMs: number;
}

/** No body is examined for longer, and no slice of a batch; waiting for a thread included. */
export const EXAMINATION_MS = 30_000;
/**
 * After an examination the next one of its account waits three times as long: so an account has a fourth of a thread's time at most with its
 * large submissions, and as much with its batches. What is examined takes as much again of PostgreSQL, and of what runs the jobs.
 */
const REST = { times: 3, isAlways: true };
/**
 * Beside its thread, a large submission takes the event loop, PostgreSQL and the worker that runs it this long for each MiB: it is received,
 * recorded and read again. That counts as spent with the time of the thread, which is much less where a few long texts make up the body.
 */
const MS_PER_MIB = 24;
/** Of a large submission: the longest one is followed by the longest rest. */
export const SUBMISSION_REST: Rest = { ...REST, mostMs: 3 * EXAMINATION_MS };
/** Of a batch. It has as many slices as it needs; the bytes of its graphs bound them. */
export const BATCH_REST: Rest = { ...REST, mostMs: Number.POSITIVE_INFINITY };

const BYTES_PER_MIB = 1_048_576;
const MAX_THREADS = 4;
const LIMITS: ExaminerLimits = {
  inlineBytes: SMALL_SUBMISSION_BYTES,
  // One core stays with the event loop, which serves all others.
  threads: Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1)),
  waiting: 64,
  heapMib: 96,
  timeoutMs: EXAMINATION_MS,
};
const IDLE_MS = 60_000;
const RETRY_SECONDS = 2;

/** Is called with milliseconds. */
type Spend = (ms: number) => void;
const ignore: Spend = () => undefined;
const noLibrary: KnownModels = () => Promise.resolve(new Set());

/** A submission that was examined, and where it is to run. */
export interface Examination {
  job: ExaminedJob;
  target: Target;
}

/** The same before its refusal, which the library decides a part of. */
interface Examined {
  job: ExaminedJob | FaultyGraph;
  target: Target;
}

/**
 * Examines submissions: small ones at once, large ones in threads of their own, so that no body holds up the requests of
 * others. A thread whose body takes too much memory ends alone; its request is refused.
 */
export class SubmissionExaminer {
  private readonly limits: ExaminerLimits;
  private readonly pool: Piscina<ExaminationTask | SliceTask, ExaminationResult | SliceResult>;
  private readonly shared = new WeakMap<NodeCatalogue, SharedCatalogue>();
  private sharedCount = 0;

  constructor(limits: Partial<ExaminerLimits> = {}) {
    this.limits = { ...LIMITS, ...limits };
    const { threads, waiting, heapMib } = this.limits;
    this.pool = new Piscina({
      ...threadEntry(),
      minThreads: 0,
      maxThreads: threads,
      maxQueue: waiting,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMib },
    });
    // A thread that ended reports so to its task as well.
    this.pool.on('error', () => undefined);
  }

  /**
   * Read a body and check its graph against the nodes of where it is to run. `body` is not to be used afterwards.
   *
   * @param target asked only about a body that could be read, unless that is a large one. A fault of the body counts first.
   * @param options `forReuse`: the submission may be answered with earlier outputs: what it asks for exactly is worked out as well.
   * `spend` is called with the milliseconds that a thread worked on it, also where that fails, and what its bytes cost elsewhere; waiting
   * for a thread does not count. `library` is asked only about a graph with other faults, so that its refusal has all of them; absent: it is empty.
   * @throws Refusal of the body, the target or the graph; 429 `rate_limited` while too many large bodies wait; 413
   * `payload_too_large` when examining it takes too much memory.
   */
  async examine(
    body: Uint8Array,
    target: () => Promise<Target>,
    {
      forReuse = false,
      spend = ignore,
      library = noLibrary,
    }: { forReuse?: boolean; spend?: Spend | undefined; library?: KnownModels } = {},
  ): Promise<Examination> {
    const isLarge = body.byteLength > this.limits.inlineBytes;
    const { job, target: found } = await (isLarge
      ? this.examineAside(body, target, forReuse, spend)
      : examineHere(body, target, forReuse));
    if (isFaulty(job)) throw refusalOfGraph(job, await library(unlistedNames([job])));
    return { job, target: found };
  }

  /**
   * Examine a batch, slice by slice, always in a thread. Between two slices the submissions of others have their turn.
   *
   * @param body JSON in UTF-8; it stays as it is.
   * @param take gets each slice, with the outline of the batch at the first; false ends the examination.
   * @param library as of `examine`.
   * @param spend as of `examine`, for each slice.
   * @throws Refusal of the body as a whole, and as `examine` does.
   */
  async examineBatch(
    body: Uint8Array,
    { catalogue }: Pick<Target, 'catalogue'>,
    take: (slice: ExaminedSlice, outline: BatchOutline | null) => boolean,
    library: KnownModels = noLibrary,
    spend: Spend = ignore,
  ): Promise<void> {
    const shared = new SharedArrayBuffer(body.byteLength);
    new Uint8Array(shared).set(body);
    let count = 1;
    let places: SliceTask['places'] = null;
    for (let from = 0; from < count;) {
      const task: Omit<SliceTask, 'began'> = { body: shared, catalogue: this.share(catalogue), from, places };
      const result = await this.runInThread<SliceResult>(task, 'examineSliceInThread', spend);
      if (result.kind === 'refused') throw new Refusal(result.code, result.message, result.options);
      const { slice, outline } = result;
      count = outline?.count ?? count;
      places = outline?.places ?? places;
      from = slice.next;
      if (!take(await decided(slice, library), outline)) return;
    }
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async examineAside(
    body: Uint8Array,
    target: () => Promise<Target>,
    forReuse: boolean,
    spend: Spend,
  ): Promise<Examined> {
    const found = await target().catch((error: unknown) => ({ error }));
    const catalogue = 'error' in found ? null : this.share(found.catalogue);
    const { buffer, byteLength } = body;
    // Moved where the body has the memory to itself, else copied.
    const transferList = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
    const task = { body, catalogue, forReuse };
    const elsewhereMs = (byteLength / BYTES_PER_MIB) * MS_PER_MIB;
    const spendAll: Spend = (ms) => spend(ms + elsewhereMs);
    const result = await this.runInThread<ExaminationResult>(task, 'examineInThread', spendAll, transferList);
    if (result.kind === 'refused') throw new Refusal(result.code, result.message, result.options);
    if ('error' in found) throw found.error;
    if (result.kind === 'read') throw new Error('the graph was not examined');
    return { job: result.kind === 'faulty' ? result.graph : result.job, target: found };
  }

  private async runInThread<Result extends ExaminationResult | SliceResult>(
    task: Omit<ExaminationTask, 'began'> | Omit<SliceTask, 'began'>,
    name: string,
    spend: Spend,
    transferList: ArrayBuffer[] = [],
  ): Promise<Result> {
    const { waiting, timeoutMs } = this.limits;
    if (this.pool.queueSize >= waiting) throw busy();
    const signal = AbortSignal.timeout(timeoutMs);
    const began = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
    try {
      return (await this.pool.run(
        { ...task, began },
        {
          name,
          transferList,
          signal,
        },
      )) as Result;
    } catch (error) {
      if (signal.aborted) throw busy();
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') throw tooHeavy();
      throw error;
    } finally {
      const beganAt = Atomics.load(began, 0);
      if (beganAt > 0n) spend(Number(process.hrtime.bigint() - beganAt) / 1e6);
    }
  }

  /** A catalogue is megabytes and never changes: a thread that has read it needs only its number. */
  private share(catalogue: NodeCatalogue): SharedCatalogue {
    const known = this.shared.get(catalogue);
    if (known !== undefined) return known;
    const json = textOfCatalogue(catalogue) ?? textFor(catalogue);
    const made = { id: (this.sharedCount += 1), json, limits: limitsOfRuns(catalogue) };
    this.shared.set(catalogue, made);
    return made;
  }
}

async function examineHere(body: Uint8Array, target: () => Promise<Target>, forReuse: boolean): Promise<Examined> {
  const requested = readSubmission(body);
  const found = await target();
  return { job: examineSubmission(requested, found.catalogue, forReuse), target: found };
}

async function decided({ undecided, ...slice }: UndecidedSlice, library: KnownModels): Promise<ExaminedSlice> {
  if (undecided.length === 0) return slice;
  const known = await library(unlistedNames(undecided.map(({ graph }) => graph)));
  const faults = [...slice.faults, ...undecided.map((fault) => decidedFaultOf(fault, known))];
  return { ...slice, faults: faults.sort((one, other) => one.index - other.index) };
}

function textFor(catalogue: NodeCatalogue): SharedArrayBuffer {
  const text = Buffer.from(JSON.stringify(catalogue));
  const json = new SharedArrayBuffer(text.byteLength);
  text.copy(new Uint8Array(json));
  return json;
}

function busy(): Refusal {
  const message = 'More large submissions are being checked than this service does at once; wait and send it again.';
  return new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
}

function tooHeavy(): Refusal {
  return new Refusal(
    'payload_too_large',
    'Checking this workflow takes more memory than a submission may use; send fewer nodes or shorter values.',
  );
}

/** From TypeScript source, that is under jest, the thread compiles what it loads: tests never run a stale build. */
function threadEntry(): { filename: string; name: string; execArgv: string[] } {
  const extension = extname(__filename);
  const compiler = ['--require', resolve(__dirname, '../../../testing/source-thread.cjs')];
  return {
    filename: join(__dirname, `examination.thread${extension}`),
    name: 'examineInThread',
    execArgv: extension === '.js' ? ['--enable-source-maps'] : compiler,
  };
}
