import { createHash } from 'node:crypto';
import type { AccountSubmissionDefaults } from '@millrace/accounts';
import type { AssetSettings } from '@millrace/assets';
import type { BillingSettings } from '@millrace/billing';
import { Refusal, newId, type RetryPolicy } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import { Turns, type Metrics } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { JobSettings } from '../job.settings';
import { graphTextOf } from '../examination';
import type { SpendStanding } from '../spend';
import {
  draftOf,
  keyOfAnotherBatch,
  retryOf,
  type JobDraft,
  type Sender,
  type Submitter,
  whileModelsGo,
} from '../submission';
import type { BatchRecord } from './batch';
import { BatchContents, type AdmittedItem } from './batch-contents';
import type { BatchExaminer, TakeSlice } from './batch-examiner';
import type { FittingBatch } from './batch-room';
import type { BatchFitter } from './batch-fitter';
import { groupsOf, recordInOne, standingsFor } from './batch-groups';
import type { BatchRecorder } from './batch-recorder';
import type { BatchStore } from './batch.store';

/** Of one account: a batch takes seconds of a thread and of PostgreSQL. */
const BATCHES_AT_A_TIME = 1;
/** A batch as it arrives: who, where to, and the body. */
export interface BatchSubmission extends Omit<Submitter, 'retry'> {
  /** JSON in UTF-8. */
  body: Uint8Array;
  /** Finds where it runs. @throws Refusal when nothing takes jobs there now. */
  target: () => Promise<Target>;
  sender: Sender;
  idempotencyKey: string | undefined;
  /** Which failures of its jobs are tried again; null: none. Absent: as the account has set it. */
  retry?: RetryPolicy | null | undefined;
}

/** A batch that is recorded, now or before. */
export interface SubmittedBatch {
  batch: BatchRecord;
  /** It was recorded by an earlier request with its key. */
  isRepeat: boolean;
  /** The caps of which half or more is used, by these jobs too; none for a repeat. */
  spend: SpendStanding[];
}

type Recorded = Pick<SubmittedBatch, 'spend'> & { id: string };

/**
 * Turns a request into many durable jobs under one id. What can be refused without writing is refused first; then one transaction
 * records the batch and its jobs (`BatchJobStore`): it writes the jobs some at a time, and locks the account's queue, labels and balance
 * in its last statement.
 */
export class BatchSubmissions {
  private readonly turns = new Turns(BATCHES_AT_A_TIME, 'batches');

  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly store: BatchStore,
    private readonly recorder: Pick<BatchRecorder, 'prepare' | 'record'>,
    private readonly fitter: BatchFitter,
    private readonly examiner: BatchExaminer,
    private readonly dispatcher: Pick<Dispatcher, 'expectDispatch' | 'requestDispatch'>,
    private readonly defaults: Pick<AccountSubmissionDefaults, 'of'>,
    private readonly metrics: Pick<Metrics, 'submissions'>,
    private readonly settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
  ) {}

  /**
   * Accept a batch, or refuse it and leave nothing behind. A repeat with the key, the body, the retry policy and the spend limit of an
   * earlier one is answered with that one, as long as it can be read.
   *
   * @throws Refusal with the reason; after any other error the outcome is not known here.
   */
  async submit(submission: BatchSubmission): Promise<SubmittedBatch> {
    const requestHash = hashOf(submission);
    const earlier = await this.earlier(submission, requestHash);
    if (earlier !== null) return { batch: earlier, isRepeat: true, spend: [] };
    const recorded = await this.turns.run(submission.scope.accountId, () => this.accept(submission, requestHash));
    const batch = await (recorded === null
      ? this.earlier(submission, requestHash)
      : this.find(submission, recorded.id));
    if (batch === null) throw new Error('the batch that was recorded is not there');
    return { batch, isRepeat: recorded === null, spend: recorded?.spend ?? [] };
  }

  /** @returns null when a concurrent request with the key was first. */
  private async accept(submission: BatchSubmission, requestHash: Buffer): Promise<Recorded | null> {
    try {
      await submission.sender.begin();
      const target = await submission.target();
      const contents = await this.examine(submission, target);
      await submission.sender.confirm();
      const retry = await retryOf(submission, this.defaults);
      const submitter = { ...submission, retry };
      return await whileModelsGo(() => this.recordFitting(submitter, target, contents.copy(), requestHash));
    } catch (error) {
      this.metrics.submissions.inc({ outcome: error instanceof Refusal ? error.code : 'upstream_error' });
      throw error;
    }
  }

  /** @throws Refusal `idempotency_key_reuse` when the key names another batch than this. */
  private async earlier({ scope, idempotencyKey }: BatchSubmission, hash: Buffer): Promise<BatchRecord | null> {
    if (idempotencyKey === undefined) return null;
    const keyed = await this.store.findByKey(this.database, scope.accountId, idempotencyKey);
    if (keyed === null) return null;
    const batch = hash.equals(keyed.requestHash) ? await this.store.find(this.database, scope, keyed.id) : null;
    if (batch === null) throw keyOfAnotherBatch();
    return batch;
  }

  private find({ scope }: BatchSubmission, id: string): Promise<BatchRecord | null> {
    return this.store.find(this.database, scope, id);
  }

  private async examine({ scope, body, sender }: BatchSubmission, target: Target): Promise<BatchContents> {
    const { maxBatchGraphBytes } = this.settings;
    const contents = new BatchContents();
    const take: TakeSlice = (slice, outline) => {
      if (outline !== null) {
        Object.assign(contents, { admission: outline.admission, template: outline.template, itemCount: outline.count });
      }
      contents.graphBytes += slice.graphBytes;
      for (const item of slice.items) contents.items.push(item);
      contents.addFaults(slice.faults, slice.faultCount);
      if (contents.graphBytes > maxBatchGraphBytes) throw tooManyBytes(maxBatchGraphBytes);
      return !contents.isDecided;
    };
    await this.examiner.inTurn(scope.accountId, async (examine) => {
      await sender.begin();
      await examine(body, target, take);
    });
    return contents;
  }

  /** @returns null when a concurrent request with the key was first. */
  private async recordFitting(
    submission: BatchSubmission & Submitter,
    target: Target,
    contents: BatchContents,
    requestHash: Buffer,
  ): Promise<Recorded | null> {
    const termsOf = (item: AdmittedItem): JobDraft => this.draftOf(submission, target, item, '', '');
    return this.fitter.recordFitting({ scope: submission.scope, target, contents, termsOf }, (fitting) =>
      this.record(submission, target, contents, fitting, requestHash),
    );
  }

  private async record(
    submission: BatchSubmission & Submitter,
    target: Target,
    contents: BatchContents,
    { accepted, refused }: FittingBatch,
    requestHash: Buffer,
  ): Promise<Recorded | null> {
    const id = newId();
    const { scope, idempotencyKey = null } = submission;
    this.dispatcher.expectDispatch(target.poolId);
    const terms = this.draftOf(submission, target, accepted[0] as AdmittedItem, '', id);
    await this.recorder.prepare(this.database, terms);
    const standings = await recordInOne(this.database, async (tx) => {
      const { retentionSeconds } = terms;
      const counts = { itemCount: contents.itemCount, jobCount: accepted.length };
      const batch = { ...scope, ...counts, id, idempotencyKey, requestHash, refused, retentionSeconds };
      if (!(await this.store.create(tx, batch))) return null;
      return this.recorder.record(tx, accepted.length, this.draftsOf(submission, target, contents, accepted, id));
    });
    if (standings === null) return null;
    this.metrics.submissions.inc({ outcome: 'accepted' }, accepted.length);
    this.dispatcher.requestDispatch(target.poolId);
    return { id, spend: standingsFor(scope, standings) };
  }

  /** Group by group, so that not all graphs are made at once. */
  private *draftsOf(
    submission: Submitter,
    target: Target,
    contents: BatchContents,
    accepted: readonly AdmittedItem[],
    id: string,
  ): Generator<JobDraft[]> {
    for (const group of groupsOf(accepted)) {
      yield group.map((item) => this.draftOf(submission, target, item, graphTextOf(item, contents.template), id));
    }
  }

  private draftOf(submitter: Submitter, target: Target, item: AdmittedItem, workflow: string, id: string): JobDraft {
    const draft = draftOf(submitter, target, { ...item, workflow }, item.inputAssetIds, this.settings);
    return { ...draft, batch: { id, index: item.index } };
  }
}

/** Names what a request asks for: its body, and what its headers say of its jobs. */
function hashOf({ body, retry, spendLimitMicros }: BatchSubmission): Buffer {
  const hash = createHash('sha256').update(body);
  if (retry !== undefined) hash.update(JSON.stringify(retry));
  if (spendLimitMicros !== null) hash.update(`limit ${spendLimitMicros}`);
  return hash.digest();
}

function tooManyBytes(limit: number): Refusal {
  return new Refusal(
    'payload_too_large',
    `The graphs of the batch are together larger than ${limit} bytes, which is the limit.`,
  );
}
