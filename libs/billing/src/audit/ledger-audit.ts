import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import type { LedgerAuditStore } from './ledger-audit.store';

/** Accounts in one batch. */
const BATCH = 200;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Checks the invariants of the README for the credits of every account. */
export class LedgerAudit implements Auditor {
  readonly name = 'ledger';

  constructor(
    private readonly database: Statements,
    private readonly store: LedgerAuditStore,
  ) {}

  async *findings(): AsyncGenerator<Finding> {
    let after: string | null = BEFORE_ALL;
    while (after !== null) {
      const batch: LedgerAuditBatch = await this.batch(after);
      yield* batch.findings;
      after = batch.next;
    }
  }

  /** Check the accounts after one; `next` is where to go on, null at the end. */
  async batch(afterAccountId: string | null): Promise<LedgerAuditBatch> {
    const accountIds = await this.store.listAccounts(this.database, afterAccountId ?? BEFORE_ALL, BATCH);
    const findings: Finding[] = [];
    if (accountIds.length > 0) {
      for await (const finding of this.store.check(this.database, accountIds)) findings.push(finding);
    }
    return { findings, next: accountIds.length < BATCH ? null : (accountIds.at(-1) ?? null) };
  }
}

export interface LedgerAuditBatch {
  findings: Finding[];
  next: string | null;
}
