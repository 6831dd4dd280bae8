import type { Caller } from '@millrace/accounts';
import { storageFull, type AssetSettings, type StorageQuota } from '@millrace/assets';
import { costMicros, type BillingSettings, type LedgerStore } from '@millrace/billing';
import { Refusal, type ErrorCode, type Reuse } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import { labelOutlook } from '../labels';
import type { JobReuse, ReuseOutcome } from '../reuse';
import type { QueueEstimates, QueuePlace } from '../rotation';
import type { JobScope } from '../state';
import { workKeyOf, type ExaminedJob, type KnownModels, type SubmissionExaminer } from '../examination';
import { assertMayRun, prepareSubmission, type PreparedSubmission } from './prepare-submission.step';
import { accountQueueFull, insufficientCredits } from './refusals';
import type { RunTimes, RunTimesStore } from './run-times.store';
import type { JobDraft } from './submission';
import type { SubmissionChecks } from './submission-checks';
import { termsOf, type SubmissionTerms } from './terms';

/** What a submission is asked about: who, where to, and the body. */
export interface EstimateRequest {
  caller: Caller;
  scope: JobScope;
  /** As of a submission; not to be used afterwards. */
  body: Uint8Array;
  /** Finds where it would run. @throws Refusal when nothing takes jobs there now. */
  target: () => Promise<Target>;
  /** As of a submission. */
  spend?: (ms: number) => void;
  /** As of a submission. */
  reuse?: Reuse | null | undefined;
  /** As of a submission: the most that the job may cost, in micro-credits. */
  spendLimitMicros?: bigint | undefined;
  /** As of a submission. */
  spendLimitField?: string;
}

/** What the same submission would come to now. */
export interface SubmissionEstimate {
  /** Why it would be refused; null when it would be accepted. */
  refusal: Refusal | null;
  /** Null where it is not known where it would run. */
  terms: SubmissionTerms | null;
  /** How long earlier jobs of this kind took; null when there are none, or when the graph cannot be run. */
  times: RunTimes | null;
  /** What a job that takes so long costs, in micro-credits. */
  costMicros: { p50: bigint; p90: bigint } | null;
  place: QueuePlace | null;
  /** Null where it does not ask for earlier outputs, or was not examined. */
  reuse: ReuseOutcome | null;
}

/** Refusals of the request for an estimate itself: it was not looked at. */
const NOT_EXAMINED: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'payload_too_large']);

/**
 * Says what a submission would come to, and records nothing. What it finds may have changed when the submission arrives: other
 * jobs come and go.
 */
export class SubmissionEstimates {
  constructor(
    private readonly database: Statements,
    private readonly examiner: Pick<SubmissionExaminer, 'examine'>,
    private readonly checks: Pick<SubmissionChecks, 'inputAssets' | 'assertRoom' | 'knownModels'>,
    private readonly runTimes: Pick<RunTimesStore, 'find'>,
    private readonly queues: Pick<QueueEstimates, 'place' | 'waitingOf'>,
    private readonly ledger: Pick<LedgerStore, 'balance'>,
    private readonly quota: Pick<StorageQuota, 'usedBytes'>,
    private readonly reuse: Pick<JobReuse, 'isWanted' | 'search'>,
    private readonly settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
  ) {}

  /** @throws Refusal `rate_limited` or `payload_too_large` when the body was not examined. */
  async estimate(request: EstimateRequest): Promise<SubmissionEstimate> {
    let target: Target | null = null;
    const find = async (): Promise<Target> => (target = await request.target());
    const { body, spend, scope } = request;
    const forReuse = await this.reuse.isWanted(scope.accountId, request.reuse);
    const library: KnownModels = (names) => this.checks.knownModels(scope.accountId, names);
    const options = { forReuse, spend, library };
    const examined = await refusalOr(async () => (await this.examiner.examine(body, find, options)).job);
    const known = target as Target | null;
    if (known === null) return { ...NOTHING, refusal: examined instanceof Refusal ? examined : null };
    const terms = termsOf(request.caller, scope, known, this.settings);
    if (examined instanceof Refusal) {
      // A fault of the body counts before the target, one of the graph after it.
      const refusal = examined.code === 'invalid_workflow' ? (known.notReady ?? examined) : examined;
      return { ...NOTHING, refusal, terms };
    }
    // A submission is refused before anything else is looked up; what it would come to once the target is ready can be said all the same.
    const prepared = known.notReady ?? (await this.prepared(request, known, examined));
    const reuse = prepared instanceof Refusal ? null : (prepared.search?.outcome ?? null);
    if (reuse !== null && reuse.reusedFrom !== null) {
      return { ...NOTHING, refusal: null, terms: { ...terms, holdMicros: 0n }, costMicros: NO_COST, reuse };
    }
    return { ...(await this.estimateOf(request, known, terms, examined, prepared)), reuse };
  }

  private prepared(
    { caller, scope, spendLimitMicros }: EstimateRequest,
    target: Target,
    job: ExaminedJob,
  ): Promise<PreparedSubmission | Refusal> {
    const { checks, reuse, settings } = this;
    const submitter = { caller, scope, spendLimitMicros: spendLimitMicros ?? null, traceparent: null, retry: null };
    return refusalOr(() => prepareSubmission({ checks, reuse, settings }, submitter, target, job));
  }

  private async estimateOf(
    request: EstimateRequest,
    target: Target,
    terms: SubmissionTerms,
    job: ExaminedJob,
    prepared: PreparedSubmission | Refusal,
  ): Promise<Omit<SubmissionEstimate, 'reuse'>> {
    const { poolId } = target;
    const { accountId, labels } = request.scope;
    const ahead = await this.queues.waitingOf(poolId, accountId);
    const [refusal, times, place] = await Promise.all([
      prepared instanceof Refusal ? prepared : this.refusalOf(request, target, prepared.draft, ahead),
      this.runTimes.find(this.database, workKeyOf(accountId, poolId, job.work), labels),
      this.queues.place(poolId, accountId, ahead),
    ]);
    const cost = (ms: number): bigint => costMicros(BigInt(ms), terms.priceMicrosPerSecond);
    const costs = times && { p50: cost(times.p50Ms), p90: cost(times.p90Ms) };
    return { refusal, terms, times, costMicros: costs, place };
  }

  /** The first reason not to run it, in the order in which a submission finds them. */
  private async refusalOf(
    { scope: { accountId, labels }, spendLimitField }: EstimateRequest,
    target: Target,
    draft: JobDraft,
    waiting: number,
  ): Promise<Refusal | null> {
    const found = await refusalOr(() => assertMayRun(this.checks, draft, target, spendLimitField));
    if (found instanceof Refusal) return found;
    const { apiKeyId, metadata, holdMicros, storageBytes, queueLimit } = draft;
    if ((await this.quota.usedBytes(accountId)) >= storageBytes) return storageFull(storageBytes);
    if (waiting >= queueLimit) return accountQueueFull(queueLimit);
    if (holdMicros > 0n) {
      const { availableMicros } = await this.ledger.balance(this.database, accountId);
      if (availableMicros < holdMicros) return insufficientCredits(holdMicros, availableMicros, labels);
    }
    return labelOutlook(this.database, { accountId, apiKeyId, metadata, holdMicros });
  }
}

const NOTHING = { terms: null, times: null, costMicros: null, place: null, reuse: null } as const;
const NO_COST = { p50: 0n, p90: 0n };

async function refusalOr<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal && !NOT_EXAMINED.has(error.code)) return error;
    throw error;
  }
}
