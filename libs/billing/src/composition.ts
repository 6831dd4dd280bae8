import type { Database } from '@millrace/database';
import type { Logger, Loop, Metrics } from '@millrace/platform';
import { AuditLedgerLoop } from './audit-ledger.loop';
import { CreditReads } from './credit-reads.service';
import { CreditsService } from './credits.service';
import { ExpireCreditsLoop } from './expire-credits.loop';
import { LedgerAudit } from './ledger-audit';
import { LedgerAuditStore } from './ledger-audit.store';
import { LedgerReadsStore } from './ledger-reads.store';
import { LedgerStore } from './ledger.store';
import { LotStore } from './lot.store';
import { PostingStore } from './posting.store';
import { UsageStore } from './usage.store';

/** What credits are built on, made by the process that uses them. */
export interface BillingParts {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  settings: { jobExecutionDeadlineSeconds: number };
}

/** The use cases of credits, wired. */
export interface Billing {
  credits: CreditsService;
  reads: CreditReads;
  audit: LedgerAudit;
  /** Chores, for the process that runs chores. */
  loops: Loop[];
}

/** Wire the credits of one process. */
export function composeBilling({ database, logger, metrics, settings }: BillingParts): Billing {
  const ledger = new LedgerStore();
  const lots = new LotStore();
  const credits = new CreditsService(database, ledger, new PostingStore(), lots);
  const audit = new LedgerAudit(database, new LedgerAuditStore());
  return {
    credits,
    reads: new CreditReads(database, ledger, new LedgerReadsStore(), new UsageStore()),
    audit,
    loops: [
      new ExpireCreditsLoop(database, lots, credits, settings.jobExecutionDeadlineSeconds * 1000),
      new AuditLedgerLoop(audit, metrics, logger),
    ],
  };
}
