import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import {
  ACCOUNT_LABEL,
  KEY_LABEL,
  type AtCap,
  type LabelRule,
  type LabelRules,
  type LabelRuleStore,
  type RuleKey,
} from '../labels';
import type { SpendCap, SpendCapStore } from './spend-cap.store';
import { sumUsage, type SummedUsage } from './summed-usage.store';

/** A cap on what all jobs of an account, or those of a key, may cost. */
export interface SpendCapDraft {
  scope: 'account' | 'key';
  /** Of a key, with its predecessors, its successors and what it makes; null: each key that has no cap of its own, by itself. */
  keyId: string | null;
  /** In a day and in a month (UTC), in micro-credits, charged and held together; null: no cap. */
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
  dailyAtCap: AtCap;
  monthlyAtCap: AtCap;
}

/** What the jobs of accounts may cost. */
export class SpendCaps {
  /** A sum reads a month of usage, and nothing else bounds how many requests ask for one at a time. */
  private readonly turns = new Turns(1, 'changes of spend caps');

  constructor(
    private readonly database: Database,
    private readonly rules: LabelRules,
    private readonly ruleStore: Pick<LabelRuleStore, 'delete' | 'renew'>,
    private readonly store: SpendCapStore,
  ) {}

  /** All caps: of the account, of keys, and of labels that limit what is spent. */
  async list(accountId: string): Promise<SpendCap[]> {
    return this.store.list(this.database, accountId);
  }

  /** Whether a cap limits what one of these keys submits: its own, or that of each key. @param keyIds as which keys count. */
  async limitsAny(tx: Statements, accountId: string, keyIds: readonly string[]): Promise<boolean> {
    return this.store.limitsAny(tx, accountId, keyIds);
  }

  /**
   * Sum what a cap counts of this month, for `put`: before the transaction of the act, in which jobs of the account wait. One sum of an account
   * at a time, and one for operators.
   *
   * @throws Refusal `invalid_request` when the cap names a key that the account has not; `rate_limited` when too many sums wait.
   */
  async sumUsage(
    accountId: string,
    draft: Pick<SpendCapDraft, 'scope' | 'keyId'>,
    asker: 'account' | 'operator',
  ): Promise<SummedUsage> {
    const key = await this.keyOf(this.database, accountId, draft);
    return this.turns.run(`${asker} ${accountId}`, () => sumUsage(this.database, accountId, key));
  }

  /**
   * Make or change a cap, in the transaction of the act that records it. It counts what was charged since the day and month began, and all
   * jobs that have not ended.
   *
   * @param summed what `sumUsage` has summed before for this draft.
   * @throws Refusal `invalid_request` when it names a key that the account has not, or the account has as many rules as it may.
   */
  async put(tx: Statements, accountId: string, draft: SpendCapDraft, summed: SummedUsage): Promise<SpendCap> {
    const { dailyMicros, monthlyMicros, dailyAtCap, monthlyAtCap } = draft;
    const key = await this.keyOf(tx, accountId, draft);
    const limits = { dailyMicros, monthlyMicros, dailyAtCap, monthlyAtCap, maxJobs: null, retentionSeconds: null };
    // Before the rule, with which what counts jobs is locked: their ends lock them first.
    await this.store.adopt(tx, accountId, key);
    await this.store.countsItself(tx);
    const rule = await this.rules.put(tx, accountId, { ...key, ...limits });
    await this.store.countCharged(tx, accountId, key, summed);
    const put = (await this.store.list(tx, accountId)).find(({ id }) => id === rule.id);
    if (put === undefined) throw new Error('the spend cap that was set is not there');
    return put;
  }

  /** In the transaction of the act that records it. @throws Refusal `not_found`. */
  async delete(tx: Statements, accountId: string, id: string): Promise<LabelRule> {
    const deleted = await this.ruleStore.delete(tx, accountId, id, true);
    if (deleted === null) throw new Refusal('not_found', `There is no spend cap ${id} of this account.`);
    await this.store.forgetCharged(tx, accountId, deleted);
    await this.ruleStore.renew(tx, accountId, deleted);
    return deleted;
  }

  /** The label and the value that a cap counts. */
  private async keyOf(
    statements: Statements,
    accountId: string,
    { scope, keyId }: Pick<SpendCapDraft, 'scope' | 'keyId'>,
  ): Promise<RuleKey> {
    const value = keyId && (await this.store.countsAs(statements, accountId, keyId));
    if (keyId !== null && value === null) {
      throw Refusal.ofFields([{ field: 'key_id', reason: 'is no API key of this account' }]);
    }
    return scope === 'account' ? { label: ACCOUNT_LABEL, value: '' } : { label: KEY_LABEL, value };
  }
}
