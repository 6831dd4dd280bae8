import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { CreditsService } from './credits.service';
import type { LotStore } from './lot.store';

const BATCH = 50;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Expires grants past their time, a batch of accounts a run, round after round. */
export class ExpireCreditsLoop implements Loop {
  readonly name = 'expire-credits';
  readonly everyMs = 30_000;
  private after = BEFORE_ALL;

  /** @param graceMs longest life of a job: how long a hold may keep credits whose grant has expired. */
  constructor(
    private readonly database: Database,
    private readonly lots: LotStore,
    private readonly credits: CreditsService,
    private readonly graceMs: number,
  ) {}

  /** Held credits do not expire yet, so a round ends with the last account, not with the last expiry. */
  async runOnce(): Promise<number> {
    const accountIds = await this.lots.listExpired(this.database, this.after, BATCH);
    for (const accountId of accountIds) await this.credits.expire(accountId, this.graceMs);
    this.after = accountIds.length < BATCH ? BEFORE_ALL : (accountIds.at(-1) ?? BEFORE_ALL);
    return this.after === BEFORE_ALL ? 0 : accountIds.length;
  }
}
