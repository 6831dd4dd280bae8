import { isStatementTimeout, type Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { START, type AuditPosition, type AuditSpan } from './audit-span';
import type { AuditSpanStore } from './audit-span.store';
import { sumDay } from './day-sums.store';
import type { LedgerAuditStore } from './ledger-audit.store';
import { unorderedPayments } from './unordered-payments.store';

/** What a step of the audit found. */
export interface AuditStep {
  findings: Finding[];
  /** Transactions that it read. */
  transactions: bigint;
  /** Where to go on; null at the end. */
  next: AuditPosition | null;
}

/** A step that is to be made again: what it reads took too long. */
interface Retry {
  retry: unknown;
}

/** Tries of an account that is read alone, in a row, until it is left out. */
const TRIES = 3;
const NONE_FAILED = { at: '', times: 0 };

/** Checks the invariants of the README for the credits of every account, a span of the ledger at a time, and at the end that payments have orders. */
export class LedgerAudit implements Auditor {
  readonly name = 'ledger';
  /** Each account after the one, up to the other, is read alone: they could not be read together. */
  private alone = { after: '', until: '' };
  /** Tries in a row that failed of the span of one account after a position. As `alone` in this process's memory only: another begins with none. */
  private failed = NONE_FAILED;

  constructor(
    private readonly database: Statements,
    private readonly spans: AuditSpanStore,
    private readonly store: LedgerAuditStore,
  ) {}

  async *findings(): AsyncGenerator<Finding> {
    let position: AuditPosition | null = START;
    while (position !== null) {
      const step: AuditStep | Retry = await this.tryStep(position);
      if ('retry' in step) continue;
      yield* step.findings;
      position = step.next;
    }
  }

  /**
   * Check the span after a position. Accounts that cannot be read together in the time of a statement are read one by one. What of one account cannot be
   * read three times in a row is a finding, and the rest of the account is left out: it keeps no account behind it from its audit.
   *
   * @throws the error of a statement that took too long or was canceled: the step is to be made again from the same position.
   */
  async step(position: AuditPosition): Promise<AuditStep> {
    const step = await this.tryStep(position);
    if ('retry' in step) throw step.retry;
    return step;
  }

  private async tryStep(position: AuditPosition): Promise<AuditStep | Retry> {
    const isAlone = position.accountId >= this.alone.after && position.accountId < this.alone.until;
    const span = await this.spans.next(this.database, position, isAlone ? 1 : undefined);
    // Payments without an order belong to no account: they come after the last one.
    if (span === null) return { findings: await unorderedPayments(this.database), transactions: 0n, next: null };
    try {
      const step = await this.read(span);
      this.failed = NONE_FAILED;
      return step;
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      return this.retryOf(position, span, error);
    }
  }

  private async read(span: AuditSpan): Promise<AuditStep> {
    const findings: Finding[] = [];
    for await (const finding of this.store.check(this.database, span)) findings.push(finding);
    const { transactions, ...sums } = await this.store.sum(this.database, span);
    const { until } = span;
    const part = until && { reachedAt: until, sums, day: await sumDay(this.database, span, until) };
    return { findings, transactions, next: { accountId: lastOf(span), part } };
  }

  /** What comes of a span that could not be read in time. */
  private retryOf({ accountId, part }: AuditPosition, span: AuditSpan, error: unknown): AuditStep | Retry {
    if (span.accountIds.length > 1) {
      this.alone = { after: accountId, until: lastOf(span) };
      return { retry: error };
    }
    const at = `${accountId} ${part?.reachedAt.toISOString()}`;
    const times = (this.failed.at === at ? this.failed.times : 0) + 1;
    this.failed = times < TRIES ? { at, times } : NONE_FAILED;
    if (times < TRIES) return { retry: error };
    return { findings: [notRead(span)], transactions: 0n, next: { accountId: lastOf(span), part: null } };
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
    detail: `The movements${since} could not be read in the time that a statement has (MILLRACE_DATABASE_TIMEOUT_MS), ${TRIES} times in a row: they are not audited.`,
  };
}
