import type { Logger, Loop, Metrics } from '@millrace/platform';
import type { LedgerAudit } from './ledger-audit';

/** Findings told one by one in the log, of each batch; the count of all is in the metric. */
const LOGGED = 20;

/**
 * Proves the ledger, round after round, a batch of accounts a run. What it finds is in the log, and the number of findings
 * of the last whole round in `millrace_ledger_findings`: anything but 0 is worth waking somebody.
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
    for (const finding of findings.slice(0, LOGGED)) this.logger.error({ finding }, 'the ledger is not as it must be');
    this.next = next;
    this.found += findings.length;
    // Told at once when something is found, and taken back only by a whole round without.
    if (next === null || findings.length > 0) this.metrics.ledgerFindings.set(this.found);
    if (next !== null) return 1;
    this.found = 0;
    return 0;
  }
}
