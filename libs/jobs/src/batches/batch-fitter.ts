import type { LedgerStore } from '@millrace/billing';
import { Refusal, type JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Target } from '@millrace/deployments';
import { labelRooms } from '../labels';
import { noteCapsReached } from '../spend';
import type { AccountQueueStore } from '../rotation';
import type { JobScope } from '../state';
import {
  assertWithinSpendLimit,
  isAssetGone,
  type JobDraft,
  type SubmissionChecks,
  type SubmittedBefore,
} from '../submission';
import type { AdmittedItem, BatchContents } from './batch-contents';
import { fitBatch, type FittingBatch } from './batch-room';
import { refusalOfBatch } from './batch-answers';

/** How often the jobs that fit are looked for, when others of the account took their room meanwhile. */
const FITS = 3;

/** A batch that was examined. */
export interface ExaminedBatch {
  scope: JobScope;
  target: Target;
  contents: BatchContents;
  /** What one of its jobs would be recorded with. */
  termsOf: (item: AdmittedItem) => JobDraft;
  /** What its jobs have their spend limit from; absent: its request says it. */
  spendLimitOf?: SubmittedBefore;
}

/** Finds out which jobs of a batch there is room for, and has those recorded. */
export class BatchFitter {
  constructor(
    private readonly database: Statements,
    private readonly ledger: Pick<LedgerStore, 'balance'>,
    private readonly queues: Pick<AccountQueueStore, 'waitingIn'>,
    private readonly checks: Pick<SubmissionChecks, 'find' | 'placesIn'>,
  ) {}

  /**
   * Record the jobs that fit. Where each job counts by itself and others took their room meanwhile, those are recorded that fit then;
   * where it was something else that refused them, looking again would not help. An asset that was deleted meanwhile is looked for again:
   * that refuses the jobs that name it.
   *
   * @param record writes jobs, all or none.
   * @throws Refusal when jobs that must be accepted cannot be, or none can.
   */
  async recordFitting<T>(batch: ExaminedBatch, record: (fitting: FittingBatch) => Promise<T>): Promise<T> {
    const { scope, contents } = batch;
    contents.withLabels(scope.labels);
    let refused: { by: unknown; accepted: readonly AdmittedItem[] } | null = null;
    for (let fits = 1; ; fits += 1) {
      const { fitting, terms } = await this.fit(batch);
      if (refused !== null && isSame(refused.accepted, fitting.accepted)) throw refused.by;
      try {
        return await record(fitting);
      } catch (error) {
        const known = await this.refusalOf(error, terms, fitting, scope.labels);
        const isFinal = contents.admission === 'all' || fits === FITS || !(known instanceof Refusal) || known === error;
        if (isFinal && !isAssetGone(error)) throw known;
        refused = { by: known, accepted: fitting.accepted };
      }
    }
  }

  private async fit({
    scope,
    target,
    contents,
    termsOf,
    spendLimitOf,
  }: ExaminedBatch): Promise<{ fitting: FittingBatch; terms: JobDraft }> {
    const { accountId, labels } = scope;
    const items = contents.withReferences(await this.checks.find(scope, contents.items));
    contents.assertAdmissible(items.length);
    const terms = termsOf(items[0] as AdmittedItem);
    assertWithinSpendLimit(terms, spendLimitOf);
    const { apiKeyId } = terms;
    const asked = items.map(({ metadata }) => ({ apiKeyId, metadata }));
    const rooms = await labelRooms(this.database, accountId, asked);
    const room = {
      poolPlaces: await this.checks.placesIn(target),
      waiting: await this.queues.waitingIn(this.database, target.poolId, accountId),
      availableMicros: (await this.ledger.balance(this.database, accountId)).availableMicros,
      subKeyLabels: labels,
      labels: rooms,
    };
    try {
      return { fitting: fitBatch(items, contents, terms, room), terms };
    } finally {
      await noteCapsReached(this.database, accountId, rooms.capsReached);
    }
  }

  private refusalOf(
    error: unknown,
    terms: JobDraft,
    { accepted }: FittingBatch,
    labels: JobMetadata | null,
  ): Promise<unknown> {
    return refusalOfBatch(error, terms, { jobs: accepted.length, labels }, this.ledger, this.database);
  }
}

function isSame(one: readonly AdmittedItem[], other: readonly AdmittedItem[]): boolean {
  return one.length === other.length && one.every(({ index }, at) => index === other[at]?.index);
}
