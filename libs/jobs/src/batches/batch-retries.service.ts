import { createHash } from 'node:crypto';
import type { Caller } from '@millrace/accounts';
import type { AssetSettings } from '@millrace/assets';
import type { BillingSettings } from '@millrace/billing';
import { Refusal, type BatchAdmission, type RetriedStatus } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import { Turns } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { JobSettings } from '../job.settings';
import type { ExaminedItem } from '../examination';
import type { SpendStanding } from '../spend';
import type { JobScope } from '../state';
import { draftOf, isModelGone, keyOfAnotherRetry, type JobDraft, type Sender, type Submitter } from '../submission';
import { BatchContents, type AdmittedItem } from './batch-contents';
import type { BatchExaminer, Examine, TakeSlice } from './batch-examiner';
import type { BatchFitter } from './batch-fitter';
import { groupsOf, recordInOne, standingsFor } from './batch-groups';
import type { BatchRecorder } from './batch-recorder';
import { RETRY_KEYS, type BatchRetryStore, type RetriedJob } from './batch-retry.store';
import type { BatchStore } from './batch.store';
import { noBatch } from './batches.service';

/** Of one account, as batches are submitted. */
const RETRIES_AT_A_TIME = 1;
/** How often the jobs of a batch are read again, when others changed them meanwhile. */
const LOOKS = 3;

/** What is asked for: which jobs of a batch run again. */
export interface BatchRetry {
  caller: Caller;
  scope: JobScope;
  batchId: string;
  statuses: readonly RetriedStatus[];
  /** `all`: all of them or none. `each`: those that can be accepted, and that there is room for. */
  admission: BatchAdmission;
  idempotencyKey: string | undefined;
  traceparent: string | null;
  /** Finds where they run. @throws Refusal when nothing takes jobs there now. */
  target: () => Promise<Target>;
  sender: Sender;
}

/** What came of it. */
export interface RecordedRetry {
  /** Jobs that were recorded. */
  jobs: number;
  /** The caps of which half or more is used, by these jobs too; none where no job was recorded. */
  spend: SpendStanding[];
}

const NOTHING: RecordedRetry = { jobs: 0, spend: [] };

/** The jobs to be tried again, examined, and which job each was. */
interface Retried {
  contents: BatchContents;
  earlier: Map<number, string>;
}

/** A batch whose jobs run again. */
interface Again {
  batchId: string;
  submitter: Submitter;
  target: Target;
  earlier: Map<number, string>;
  /** For how long the batch is kept. */
  secondsLeft: number;
}

/** Others changed the jobs since they were read. */
class ChangedMeanwhile extends Error {}

/**
 * Runs ended jobs of a batch again, as new jobs in their places: an end is an end. They are examined as they would be now, then one
 * transaction takes the places from the earlier jobs and records the new ones.
 */
export class BatchRetries {
  private readonly turns = new Turns(RETRIES_AT_A_TIME, 'retries of batches');

  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly batches: Pick<BatchStore, 'exists'>,
    private readonly store: BatchRetryStore,
    private readonly recorder: Pick<BatchRecorder, 'prepare' | 'record'>,
    private readonly fitter: BatchFitter,
    private readonly examiner: BatchExaminer,
    private readonly dispatcher: Pick<Dispatcher, 'expectDispatch' | 'requestDispatch'>,
    private readonly settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
  ) {}

  /**
   * Try jobs of a batch again, or refuse it and leave everything as it is. A repeat with the key changes nothing.
   *
   * @throws Refusal `not_found`, `batch_busy` while it is being canceled, `idempotency_key_reuse`, `invalid_request` for a key of which there are
   * too many, and as a batch is refused.
   */
  async retry(request: BatchRetry): Promise<RecordedRetry> {
    return this.turns.run(request.scope.accountId, async () => {
      await request.sender.begin();
      for (let looks = 1; ; looks += 1) {
        try {
          return (await this.isRepeat(request)) ? NOTHING : await this.tryAgain(request);
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
          if (looks === LOOKS) throw busy(request.batchId);
        }
      }
    });
  }

  private async isRepeat({ scope, batchId, idempotencyKey, ...asked }: BatchRetry): Promise<boolean> {
    if (!(await this.batches.exists(this.database, scope, batchId))) throw noBatch(batchId);
    if (idempotencyKey === undefined) return false;
    const { requestHash, isFull } = await this.store.findKey(this.database, batchId, idempotencyKey);
    if (requestHash === null && isFull) throw tooManyKeys();
    if (requestHash !== null && !hashOf(asked).equals(requestHash)) throw keyOfAnotherRetry();
    return requestHash !== null;
  }

  private async tryAgain(request: BatchRetry): Promise<RecordedRetry> {
    const target = await request.target();
    const retried = await this.examiner.inTurn(request.scope.accountId, async (examine) => {
      await request.sender.begin();
      return this.examine(request, target, examine);
    });
    await request.sender.confirm();
    const { contents } = retried;
    if (contents.itemCount === 0) return this.record(request, target, retried, []);
    const submitter = await this.submitterOf(request);
    const termsOf = (item: AdmittedItem): JobDraft => this.draftFor(submitter, target, item, '');
    try {
      const batch = { scope: request.scope, target, contents, termsOf, spendLimitOf: { before: 'batch' } as const };
      return await this.fitter.recordFitting(batch, ({ accepted }) =>
        this.record(request, target, retried, accepted, submitter),
      );
    } catch (error) {
      throw isModelGone(error) ? new ChangedMeanwhile() : error;
    }
  }

  /** Graphs are not kept: they are read again where they are recorded, some at a time. */
  private async examine(
    { batchId, statuses, admission }: BatchRetry,
    target: Target,
    examine: Examine,
  ): Promise<Retried> {
    const contents = new BatchContents();
    contents.admission = admission;
    const earlier = new Map<number, string>();
    for (let after = -1; !contents.isDecided;) {
      const page = await this.store.page(this.database, batchId, { statuses, after });
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.index;
      contents.itemCount += page.length;
      for (const { index, jobId } of page) earlier.set(index, jobId);
      await examine(bodyOf(page), target, (slice) => takePage(contents, page, slice));
    }
    return { contents, earlier };
  }

  private async submitterOf({ caller, scope, traceparent, batchId }: BatchRetry): Promise<Submitter> {
    return { caller, scope, traceparent, ...(await this.store.terms(this.database, batchId)) };
  }

  private async record(
    request: BatchRetry,
    target: Target,
    { contents, earlier }: Retried,
    accepted: readonly AdmittedItem[],
    submitter?: Submitter,
  ): Promise<RecordedRetry> {
    const { scope, batchId, idempotencyKey } = request;
    this.dispatcher.expectDispatch(target.poolId);
    const [one] = accepted;
    if (submitter !== undefined && one !== undefined) {
      await this.recorder.prepare(this.database, this.draftFor(submitter, target, one, ''));
    }
    const standings = await recordInOne(this.database, async (tx) => {
      if (idempotencyKey !== undefined) {
        const key = { key: idempotencyKey, hash: hashOf(request), jobs: accepted.length };
        if (!(await this.store.claimKey(tx, batchId, key))) throw new ChangedMeanwhile();
      }
      if (submitter === undefined || one === undefined) return [];
      const secondsLeft = await this.store.reopen(tx, scope, batchId);
      if (secondsLeft === null) throw busy(batchId);
      const again = { batchId, submitter, target, earlier, secondsLeft };
      return this.recorder.record(tx, accepted.length, this.draftsOf(tx, again, accepted));
    });
    if (contents.itemCount > 0) this.dispatcher.requestDispatch(target.poolId);
    return { jobs: accepted.length, spend: standingsFor(scope, standings) };
  }

  /** Group by group: the place of each job in its batch is made free, and its graph is read. @throws ChangedMeanwhile. */
  private async *draftsOf(
    tx: Statements,
    { batchId, submitter, target, earlier, secondsLeft }: Again,
    accepted: readonly AdmittedItem[],
  ): AsyncGenerator<JobDraft[]> {
    for (const group of groupsOf(accepted)) {
      const ids = group.map(({ index }) => earlier.get(index) as string);
      if ((await this.store.vacate(tx, batchId, ids)) !== ids.length) throw new ChangedMeanwhile();
      const graphs = await this.store.graphs(tx, ids);
      yield group.map((item, at) => {
        const draft = this.draftFor(submitter, target, item, graphs.get(ids[at] as string) as string);
        // They end with the batch, whose other jobs are there as long.
        const retentionSeconds = Math.min(draft.retentionSeconds, secondsLeft);
        return { ...draft, retentionSeconds, batch: { id: batchId, index: item.index } };
      });
    }
  }

  private draftFor(
    submitter: Submitter,
    target: Target,
    item: AdmittedItem | ExaminedItem,
    workflow: string,
  ): JobDraft {
    const inputs = 'inputAssetIds' in item ? item.inputAssetIds : [];
    return draftOf(submitter, target, { ...item, workflow }, inputs, this.settings);
  }
}

/** @returns whether any more jobs need be looked at. */
function takePage(
  contents: BatchContents,
  page: readonly RetriedJob[],
  { items, faults, faultCount }: Parameters<TakeSlice>[0],
): boolean {
  const indexOf = (at: number): number => (page[at] as RetriedJob).index;
  for (const item of items) contents.items.push({ ...item, index: indexOf(item.index), graph: '' });
  contents.addFaults(
    faults.map((fault) => ({ ...fault, index: indexOf(fault.index) })),
    faultCount,
  );
  return !contents.isDecided;
}

/** As the jobs would be submitted together. Graphs are joined as texts: no digit is lost. */
function bodyOf(jobs: readonly RetriedJob[]): Buffer {
  const items = jobs.map(({ workflow, metadata }) => `{"workflow":${workflow},"metadata":${JSON.stringify(metadata)}}`);
  return Buffer.from(`{"jobs":[${items.join(',')}]}`);
}

/** Names what a request asks for. */
function hashOf({ statuses, admission }: Pick<BatchRetry, 'statuses' | 'admission'>): Buffer {
  const asked = JSON.stringify([[...new Set(statuses)].sort(), admission]);
  return createHash('sha256').update(asked).digest();
}

function tooManyKeys(): Refusal {
  const reason =
    `is one more than the ${RETRY_KEYS} that are kept of one batch: send the retry without a key, or submit what is left as a ` +
    'new batch';
  return Refusal.ofFields([{ field: 'Idempotency-Key', reason }]);
}

function busy(id: string): Refusal {
  return new Refusal('batch_busy', `The jobs of batch ${id} are being canceled or tried again by another request.`);
}
