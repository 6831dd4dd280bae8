import { INSUFFICIENT_CREDITS, type LedgerStore } from '@millrace/billing';
import type { ExtraData } from '@millrace/contracts';
import { ConstraintError, RefusedError, type Statements } from '@millrace/database';
import type { EphemeralSecrets } from '@millrace/messaging';
import { crashPoint } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { JobSettings } from '../job.settings';
import { noteCapReached } from '../spend';
import type { JobScope } from '../state';
import { insufficientCredits, refusalOf } from './refusals';
import type { JobDraft } from './submission';
import type { SubmissionGroups } from './submission-groups';
import type { RecordedJob, SubmissionStore } from './submission.store';

/**
 * Opens a transaction, calls `record` in it, and returns what that returned. Called when everything else is done: nothing of a
 * submission may need a connection of its own while it holds this one.
 */
export type RecordWithin = <T>(record: (tx: Statements) => Promise<T>, jobId: string) => Promise<T>;

/** What a job is recorded with, beside its draft. */
interface Recording {
  scope: Pick<JobScope, 'labels'>;
  /** Handed to its run, and stored by nobody; null: nothing. */
  extraData: ExtraData | null;
  /** Records the job in a transaction with more; absent: it commits by itself. */
  within?: RecordWithin | undefined;
}

/** Records jobs that were accepted, one at a time, with the credentials that came with them. */
export class SubmissionRecorder {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<SubmissionStore, 'newId' | 'record'>,
    private readonly groups: Pick<SubmissionGroups, 'record'>,
    private readonly ledger: Pick<LedgerStore, 'balance'>,
    private readonly secrets: Pick<EphemeralSecrets, 'put' | 'delete'>,
    private readonly dispatcher: Pick<Dispatcher, 'requestDispatch'>,
    private readonly settings: Pick<JobSettings, 'jobExecutionDeadlineSeconds'>,
  ) {}

  /**
   * Record a job, or refuse it and leave nothing behind.
   *
   * @param terms the job as it is to be recorded, without an id.
   * @throws Refusal by the statement that records it; RefusedError, ConstraintError where a model or an asset is gone; after any other error
   * the outcome is not known.
   */
  async record(terms: JobDraft, { scope, extraData, within }: Recording): Promise<RecordedJob> {
    const id = extraData === null && within === undefined ? null : await this.store.newId(this.database);
    const draft = { ...terms, id, hasSecrets: extraData !== null };
    if (extraData !== null && id !== null) {
      const owner = { accountId: draft.accountId, jobId: id };
      await this.secrets.put(owner, extraData, this.settings.jobExecutionDeadlineSeconds);
    }
    try {
      crashPoint('submission:before-commit');
      const recorded = await (within === undefined || id === null
        ? this.groups.record(draft)
        : this.recordWithin(draft, id, within));
      crashPoint('submission:after-commit');
      return recorded;
    } catch (error) {
      if (error instanceof RefusedError || error instanceof ConstraintError) {
        if (extraData !== null && id !== null) void this.secrets.delete(id);
      }
      throw await this.refusalOf(error, draft, scope);
    }
  }

  private async recordWithin(draft: JobDraft, id: string, within: RecordWithin): Promise<RecordedJob> {
    const recorded = await within((tx) => this.store.record(tx, draft), id);
    this.dispatcher.requestDispatch(draft.poolId);
    return recorded;
  }

  private async refusalOf(error: unknown, draft: JobDraft, { labels }: Recording['scope']): Promise<unknown> {
    await noteCapReached(this.database, draft.accountId, error);
    if (!(error instanceof RefusedError) || error.reason !== INSUFFICIENT_CREDITS) return refusalOf(error, draft);
    const { availableMicros } = await this.ledger.balance(this.database, draft.accountId);
    return insufficientCredits(draft.holdMicros, availableMicros, labels);
  }
}
