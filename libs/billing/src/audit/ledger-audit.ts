import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { START, type AuditPosition, type AuditSpan, type BookSums } from './audit-span';
import type { AuditSpanStore } from './audit-span.store';
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

  /** Check the span after a position. */
  async step(position: AuditPosition): Promise<AuditStep> {
    const span = await this.spans.next(this.database, position);
    if (span === null) return { findings: [], transactions: 0n, next: null };
    const findings: Finding[] = [];
    for await (const finding of this.store.check(this.database, span)) findings.push(finding);
    const { transactions, ...sums } = await this.store.sum(this.database, span);
    return { findings, transactions, next: positionAfter(span, sums) };
  }
}

function positionAfter({ accountIds, until }: AuditSpan, sums: BookSums): AuditPosition {
  const accountId = accountIds.at(-1);
  if (accountId === undefined) throw new Error('a span of the ledger has no account');
  return { accountId, part: until && { reachedAt: until, sums } };
}
