import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { LabelRule, LabelRuleDraft, LabelUse } from './label-rule';
import type { LabelRuleStore } from './label-rule.store';

/** Rules of one account. A rule without a value covers any number of users. */
const RULES_PER_ACCOUNT = 1_000;

/** What accounts allow the jobs that carry a label. */
export class LabelRules {
  constructor(
    private readonly database: Database,
    private readonly store: LabelRuleStore,
  ) {}

  async list(accountId: string): Promise<LabelRule[]> {
    return this.store.list(this.database, accountId);
  }

  /**
   * Make or change the rule of a label and a value, in the transaction of the act that records it. It counts jobs that are submitted from
   * then on.
   *
   * @throws Refusal `invalid_request` when the account has as many as it may.
   */
  async put(tx: Statements, accountId: string, draft: LabelRuleDraft): Promise<LabelRule> {
    if ((await this.store.countOthersLocked(tx, accountId, draft)) >= RULES_PER_ACCOUNT) {
      throw new Refusal(
        'invalid_request',
        `This account has ${RULES_PER_ACCOUNT} label rules, the most that it may have.`,
      );
    }
    const rule = await this.store.put(tx, accountId, draft);
    await this.store.renew(tx, accountId, draft);
    return rule;
  }

  /** In the transaction of the act that records it. @throws Refusal `not_found`. */
  async delete(tx: Statements, accountId: string, id: string): Promise<LabelRule> {
    const deleted = await this.store.delete(tx, accountId, id);
    if (deleted === null) throw new Refusal('not_found', `There is no label rule ${id} of this account.`);
    await this.store.renew(tx, accountId, deleted);
    return deleted;
  }

  /** What the jobs of a label use of its rule now. */
  async use(accountId: string, label: string, value: string): Promise<LabelUse> {
    const none = { label, value, live: 0, heldMicros: 0n, dayMicros: 0n, monthMicros: 0n };
    return (await this.store.use(this.database, accountId, label, value)) ?? none;
  }
}
