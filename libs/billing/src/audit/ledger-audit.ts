import { isStatementTimeout, type Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { START, type AuditPosition, type AuditSpan } from './audit-span';
import type { AuditSpanStore } from './audit-span.store';
import { sumDay } from './day-sums.store';
import type { LedgerAuditStore } from './ledger-audit.store';

/** What a step of the audit found. */
export interface AuditStep {
  findings: Finding[];
  /** Transactions that it read. */
  transactions: bigint;
  /** Where to go on; null at the end. */
  next: AuditPosition | null;
}

/** Checks the invariants of the README for the credits of every account, a span of the ledger at a time. */
export class LedgerAudit implements Auditor {
  readonly name = 'ledger';

  constructor(
    private readonly database: Statements,
    private readonly spans: AuditSpanStore,
    private readonly store: LedgerAuditStore,
  ) {}

  async *findings(): AsyncGenerator<Finding> {
    let position: AuditPosition | null = START;
    while (position !== null) {
      const step: AuditStep = await this.step(position);
      yield* step.findings;
      position = step.next;
    }
  }

  /**
   * Check the span after a position. What cannot be read in the time of a statement is a finding, and the rest of its accounts is left out: it keeps no
   * account behind it from its audit.
   */
  async step(position: AuditPosition): Promise<AuditStep> {
    const span = await this.spans.next(this.database, position);
    if (span === null) return { findings: [], transactions: 0n, next: null };
    const findings: Finding[] = [];
    try {
      for await (const finding of this.store.check(this.database, span)) findings.push(finding);
      const { transactions, ...sums } = await this.store.sum(this.database, span);
      const { until } = span;
      const part = until && { reachedAt: until, sums, day: await sumDay(this.database, span, until) };
      return { findings, transactions, next: { accountId: lastOf(span), part } };
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      findings.push(notRead(span));
      return { findings, transactions: 0n, next: { accountId: lastOf(span), part: null } };
    }
  }
}

function lastOf({ accountIds }: AuditSpan): string {
  const accountId = accountIds.at(-1);
  if (accountId === undefined) throw new Error('a span of the ledger has no account');
  return accountId;
}

function notRead({ accountIds, after }: AuditSpan): Finding {
  const since = after === null ? '' : ` after ${after.toISOString()}`;
  return {
    check: 'ledger-is-readable',
    subject: accountIds.join(', '),
    detail: `The movements${since} could not be read in the time that a statement has (MILLRACE_DATABASE_TIMEOUT_MS): they are not audited.`,
  };
}
