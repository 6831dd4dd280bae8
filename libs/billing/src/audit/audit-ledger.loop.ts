import type { Statements } from '@millrace/database';
import type { Logger, Loop, Metrics } from '@millrace/platform';
import type { AuditProgressStore } from './audit-progress.store';
import { START } from './audit-span';
import type { LedgerAudit } from './ledger-audit';
import { isOfBooks } from './unordered-payments.store';

/** Findings of each step that are logged one by one; the metric counts all that say that the books are wrong. */
const LOGGED = 20;

/**
 * Checks the ledger, round after round, a span of it a run. Each run begins at the checkpoint of the last one. Findings are
 * logged, and `millrace_ledger_findings` has the number of those in the last whole round that say that the books are wrong: alert on anything but 0.
 */
export class AuditLedgerLoop implements Loop {
  readonly name = 'audit-ledger';
  readonly everyMs = 300_000;

  constructor(
    private readonly database: Statements,
    private readonly audit: LedgerAudit,
    private readonly progress: AuditProgressStore,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** @returns 0 at the end of a round, so that the pause is between rounds. */
  async runOnce(): Promise<number> {
    const before = await this.progress.find(this.database);
    const step = await this.audit.step(before.position);
    for (const finding of step.findings.slice(0, LOGGED))
      this.logger.error({ finding }, 'an invariant of the ledger is violated');
    const transactions = before.transactions + step.transactions;
    const findings = before.findings + step.findings.filter(isOfBooks).length;
    // The metric rises at once with a finding, and returns to 0 only after a whole round without any.
    if (step.next === null || findings > 0) this.metrics.ledgerFindings.set(findings);
    this.metrics.ledgerAudited.set(Number(transactions));
    if (step.next !== null) {
      await this.progress.save(this.database, { position: step.next, transactions, findings });
      return 1;
    }
    this.logger.info({ transactions: Number(transactions), findings }, 'a round of the audit of the ledger is over');
    await this.progress.save(this.database, { position: START, transactions: 0n, findings: 0 });
    return 0;
  }
}
