import { NO_SUBMISSION_DEFAULTS, type SubmissionDefaults } from '@millrace/contracts';
import { GroupedReads, type Database } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { AuditLog, Operator } from './audit-log';
import type { SubmissionDefaultsStore } from './submission-defaults.store';

/** A change holds everywhere within 5 s, and in the process that made it at once. */
const DEFAULTS_TTL_MS = 3_000;
const REFRESH_AFTER_MS = 2_000;
const CACHED_ACCOUNTS = 10_000;

/** How an account's jobs are made where a submission does not say it. */
export class AccountSubmissionDefaults {
  private readonly cached: LoadingCache<SubmissionDefaults>;
  /** Of many accounts that come at once, as after a restart, in few statements. */
  private readonly readings: GroupedReads<string, SubmissionDefaults>;

  constructor(
    database: Database,
    private readonly store: SubmissionDefaultsStore,
    private readonly audit: AuditLog,
  ) {
    this.readings = new GroupedReads((accountIds) => store.findEach(database, accountIds));
    this.cached = new LoadingCache({
      max: CACHED_ACCOUNTS,
      ttlMs: DEFAULTS_TTL_MS,
      refreshAfterMs: REFRESH_AFTER_MS,
      load: (accountId) => this.read(accountId),
    });
  }

  /** What applies to a submission of the account, at most a few seconds old. */
  async of(accountId: string): Promise<SubmissionDefaults> {
    return this.cached.get(accountId);
  }

  /** What is set now. */
  async read(accountId: string): Promise<SubmissionDefaults> {
    return { ...NO_SUBMISSION_DEFAULTS, ...(await this.readings.get(accountId)) };
  }

  /** Set what applies to submissions from now on; jobs that are there keep what they have. */
  async set(operator: Operator, accountId: string, defaults: SubmissionDefaults): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      await this.store.write(tx, accountId, defaults);
      const details = { defaults: JSON.stringify(defaults) };
      note({ action: 'account.defaults', subjectType: 'account', subjectId: accountId, accountId, details });
    });
    this.cached.delete(accountId);
  }
}
