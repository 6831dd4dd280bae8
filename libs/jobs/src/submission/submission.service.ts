import type { AssetSettings } from '@millrace/assets';
import type { AccountSubmissionDefaults, Caller } from '@millrace/accounts';
import type { BillingSettings } from '@millrace/billing';
import { Refusal, type ExtraData, type RetryPolicy, type Reuse } from '@millrace/contracts';
import { GroupedReads, KEY_REUSED, whichAreClaimed, type Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import { crashPoint, type Metrics } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { JobSettings } from '../job.settings';
import { showsStanding, type SpendStanding } from '../spend';
import { notFound, type JobReuse, type ReuseOutcome, type ReuseSource } from '../reuse';
import type { QueueEstimates, QueuePlace } from '../rotation';
import type { JobRecord, JobScope } from '../state';
import type { ExaminedJob, KnownModels, SubmissionExaminer } from '../examination';
import { retryOf } from './job-draft';
import { assertMayRun, prepareSubmission } from './prepare-submission.step';
import { keyReused, refusalOf, type SubmittedBefore } from './refusals';
import type { Sender } from './sender';
import type { JobDraft } from './submission';
import type { SubmissionChecks } from './submission-checks';
import type { RecordWithin, SubmissionRecorder } from './submission-recorder';
import { isAssetGone, type RecordedJob } from './submission.store';
import { whileModelsGo } from './while-models-go';

/** By whom, and under which key, something is asked for. */
export type Keyed = Pick<Submission, 'caller' | 'idempotencyKey' | 'unlisted'>;

interface PresentedKey {
  accountId: string;
  key: string;
}

/** A submission as it arrives: who, where to, and the body. */
export interface Submission {
  caller: Caller;
  scope: JobScope;
  /** JSON in UTF-8; not to be used afterwards. */
  body: Uint8Array;
  /** Finds where it runs, once the body has been read. @throws Refusal when nothing takes jobs there now. */
  target: () => Promise<Target>;
  idempotencyKey: string | undefined;
  /** The surface lists no jobs: it is a demo deployment. */
  unlisted?: boolean;
  /** Called with the milliseconds that a thread worked on the body, each time that one did. */
  spend?: (ms: number) => void;
  /** Absent where that is an operator. */
  sender?: Pick<Sender, 'confirm'>;
  traceparent: string | null;
  /**
   * The most that the job may cost, in micro-credits. A job whose hold is larger is refused; a running job's hold is not extended
   * beyond it. Absent: no limit but the account's credits.
   */
  spendLimitMicros?: bigint | undefined;
  /** The field by which the caller said it, where that is not the header of the API. */
  spendLimitField?: string;
  /** What has that limit from before; absent: this request says it. */
  spendLimitOf?: SubmittedBefore;
  /** Which failures are tried again; null: none. Absent: as the account has set it. */
  retry?: RetryPolicy | null | undefined;
  /** Whether earlier outputs may answer it; null: no. Absent: as the account has set it, and no where `within` is given. */
  reuse?: Reuse | null | undefined;
  /** Records the job in a transaction with more; by default it commits by itself. */
  within?: RecordWithin;
}

/** A job just accepted, and its place in the queue. */
export interface AcceptedJob {
  job: JobRecord;
  /** Null when it does not wait. */
  place: QueuePlace | null;
  /** Null where it was not to be answered with earlier outputs. */
  reuse: ReuseOutcome | null;
  /** Caps of which half or more is used, as far as the caller may know. */
  spend: SpendStanding[];
}

/**
 * Decides whether a request becomes a durable job, and on what terms. Everything that can be refused without writing is refused first; then
 * one statement records the job with all that belongs to it (`SubmissionRecorder`). Dispatching comes after that, and may fail without harm.
 */
export class SubmissionService {
  /** Whether these keys are claimed: who sends one bad request after the other under keys has them looked up together. */
  private readonly claims: GroupedReads<PresentedKey, boolean>;

  constructor(
    database: Statements,
    private readonly recorder: Pick<SubmissionRecorder, 'record'>,
    private readonly checks: Pick<SubmissionChecks, 'inputAssets' | 'assertRoom' | 'knownModels'>,
    private readonly estimates: Pick<QueueEstimates, 'place'>,
    private readonly dispatcher: Pick<Dispatcher, 'expectDispatch'>,
    private readonly examiner: Pick<SubmissionExaminer, 'examine'>,
    private readonly defaults: Pick<AccountSubmissionDefaults, 'of'>,
    private readonly reuse: Pick<JobReuse, 'isWanted' | 'search' | 'record'>,
    private readonly metrics: Pick<Metrics, 'submissions'>,
    private readonly settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
  ) {
    this.claims = new GroupedReads((keys) => whichAreClaimed(database, 'postJobs', keys));
  }

  /**
   * Accept a job, or refuse it and leave nothing behind.
   *
   * @throws Refusal with the reason; after any other error the outcome is not known here: the key, if there is one, is claimed
   * exactly if the job exists (contract, 4.1).
   */
  async submit(submission: Submission): Promise<AcceptedJob> {
    try {
      const accepted = await this.accept(submission);
      this.metrics.submissions.inc({ outcome: 'accepted' });
      return accepted;
    } catch (error) {
      const thrown = await this.preferKeyReuse(submission, error);
      this.metrics.submissions.inc({ outcome: thrown instanceof Refusal ? thrown.code : 'upstream_error' });
      throw thrown;
    }
  }

  private async accept(submission: Submission): Promise<AcceptedJob> {
    const { scope, body, within, spend } = submission;
    // What is to be run again runs.
    const asked = within === undefined ? submission.reuse : null;
    const forReuse = await this.reuse.isWanted(scope.accountId, asked);
    const library: KnownModels = (names) => this.checks.knownModels(scope.accountId, names);
    const { job, target } = await this.examiner.examine(body, submission.target, { forReuse, spend, library });
    await submission.sender?.confirm();
    try {
      return await whileModelsGo(() => this.acceptExamined(submission, job, target));
    } catch (error) {
      // This look misses the asset, and says where the graph names it.
      if (isAssetGone(error)) await this.checks.inputAssets(scope, job);
      throw error;
    }
  }

  private async acceptExamined(submission: Submission, job: ExaminedJob, target: Target): Promise<AcceptedJob> {
    this.dispatcher.expectDispatch(target.poolId);
    const { spendLimitMicros = null, idempotencyKey = null } = submission;
    const retry = await retryOf(submission, this.defaults);
    const { checks, reuse, settings } = this;
    const submitter = { ...submission, retry, spendLimitMicros };
    const prepared = await prepareSubmission({ checks, reuse, settings }, submitter, target, job);
    const { search } = prepared;
    const draft = { ...prepared.draft, idempotencyKey };
    if (search === null) return this.run(submission, target, job.extraData, draft, null);
    const keyed = { ...draft, reuseKey: search.key };
    const reused = search.source === null ? null : await this.recordReused(keyed, search.source);
    if (reused !== null) return { job: reused, place: null, reuse: search.outcome, spend: [] };
    return this.run(submission, target, job.extraData, keyed, search.source === null ? search.outcome : notFound());
  }

  /** @returns null when the earlier outputs went meanwhile. */
  private async recordReused(draft: JobDraft, source: ReuseSource): Promise<JobRecord | null> {
    try {
      crashPoint('submission:before-commit');
      const reused = await this.reuse.record(draft, source);
      crashPoint('submission:after-commit');
      return reused;
    } catch (error) {
      throw refusalOf(error, draft);
    }
  }

  /** Accept a job that is to run. */
  private async run(
    submission: Submission,
    target: Target,
    extraData: ExtraData | null,
    draft: JobDraft,
    reuse: ReuseOutcome | null,
  ): Promise<AcceptedJob> {
    await assertMayRun(this.checks, draft, target, submission.spendLimitOf ?? submission.spendLimitField);
    const { scope, within } = submission;
    const recorded = await this.recorder.record(draft, { scope, extraData, within });
    const spend = (recorded.spend ?? []).filter(showsStanding(scope.labels !== null));
    return { job: acceptedRecord(draft, recorded), place: await this.placeOf(draft, recorded), reuse, spend };
  }

  /**
   * What a request is refused with that failed before or in its submission: a key that was used is refused as such, even when more is
   * wrong with the request that repeats it (contract, 4.1).
   */
  async preferKeyReuse({ caller, idempotencyKey, unlisted }: Keyed, error: unknown): Promise<unknown> {
    if (!(error instanceof Refusal) || idempotencyKey === undefined) return error;
    const { accountId } = caller;
    const isClaimed = error.code === KEY_REUSED || (await this.claims.get({ accountId, key: idempotencyKey })) === true;
    return isClaimed ? keyReused(unlisted) : error;
  }

  /** The job is committed: where its place cannot be looked up now, it is that among the account's own jobs, not a failure. */
  private async placeOf({ poolId, accountId }: JobDraft, { ahead }: RecordedJob): Promise<QueuePlace> {
    return this.estimates.place(poolId, accountId, ahead).catch(() => ({ position: ahead + 1, waitMs: null }));
  }
}

function acceptedRecord(draft: JobDraft, recorded: RecordedJob): JobRecord {
  return {
    id: recorded.id,
    accountId: draft.accountId,
    surface: draft.surface,
    deploymentId: draft.deploymentId,
    poolId: draft.poolId,
    status: 'queued',
    delivery: 'waiting',
    attempt: 0,
    seq: 1,
    createdAt: recorded.createdAt,
    startedAt: null,
    completedAt: null,
    deadlineAt: recorded.deadlineAt,
    expiresAt: recorded.expiresAt,
    updatedAt: recorded.createdAt,
    progress: null,
    error: null,
    metadata: draft.metadata,
    chargedMicros: null,
    cachedNodes: null,
    isReused: false,
    reusedFrom: null,
    outputs: [],
    logs: null,
  };
}
