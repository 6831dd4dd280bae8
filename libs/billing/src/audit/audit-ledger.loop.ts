import type { Logger, Loop, Metrics } from '@millrace/platform';
import type { LedgerAudit } from './ledger-audit';

/** Findings of each batch that are logged one by one; the metric counts all. */
const LOGGED = 20;

/**
 * Checks the ledger, round after round, a batch of accounts a run. Findings are logged, and `millrace_ledger_findings` has
 * their number in the last whole round: alert on anything but 0.
 */
export class AuditLedgerLoop implements Loop {
  readonly name = 'audit-ledger';
  readonly everyMs = 300_000;
  private next: string | null = null;
  private found = 0;

  constructor(
    private readonly audit: LedgerAudit,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** @returns 0 at the end of a round, so that the pause is between rounds. */
  async runOnce(): Promise<number> {
    const { findings, next } = await this.audit.batch(this.next);
    for (const finding of findings.slice(0, LOGGED))
      this.logger.error({ finding }, 'an invariant of the ledger is violated');
    this.next = next;
    this.found += findings.length;
    // The metric rises at once with a finding, and returns to 0 only after a whole round without any.
    if (next === null || findings.length > 0) this.metrics.ledgerFindings.set(this.found);
    if (next !== null) return 1;
    this.found = 0;
    return 0;
  }
}
