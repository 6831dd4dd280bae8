import type { Database } from '@millrace/database';
import type { Logger, Loop, Metrics } from '@millrace/platform';
import { AuditLedgerLoop, AuditProgressStore, AuditSpanStore, LedgerAudit, LedgerAuditStore } from './audit';
import {
  CollectOwedCreditsLoop,
  PaymentsService,
  TopUpsService,
  TopUpStore,
  type PaymentProvider,
  type TopUpTerms,
} from './payments';
import { DailyExports, ExportStore } from './exports';
import { CreditReads, ForgetLabelsLoop, UsageStore } from './usage';
import { CreditAlerts, CreditAlertStore, CreditsService, ExpireCreditsLoop, LotStore } from './credits';
import { LedgerReadsStore, LedgerStore, PostingStore } from './ledger';

/** Transactions of the ledger that the audit reads in one step. */
const AUDITED_AT_ONCE = 20_000;

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
  alerts: CreditAlerts;
  reads: CreditReads;
  exports: DailyExports;
  audit: LedgerAudit;
  payments: PaymentsService;
  /** Chores, for the process that runs chores. */
  loops: Loop[];
}

/** Wire the credits of one process. */
export function composeBilling(
  { database, logger, metrics, settings }: BillingParts,
  provider: PaymentProvider | null = null,
): Billing {
  const ledger = new LedgerStore();
  const lots = new LotStore();
  const postings = new PostingStore();
  const credits = new CreditsService(database, ledger, postings, lots);
  const payments = new PaymentsService(database, new TopUpStore(), postings, credits, logger, provider);
  const audit = new LedgerAudit(database, new AuditSpanStore(AUDITED_AT_ONCE), new LedgerAuditStore());
  return {
    credits,
    alerts: new CreditAlerts(database, new CreditAlertStore()),
    reads: new CreditReads(database, ledger, new LedgerReadsStore(), new UsageStore()),
    exports: new DailyExports(database, new ExportStore()),
    audit,
    payments,
    loops: [
      new ExpireCreditsLoop(database, lots, credits, settings.jobExecutionDeadlineSeconds * 1000),
      new CollectOwedCreditsLoop(payments),
      new ForgetLabelsLoop(database, new UsageStore()),
      new AuditLedgerLoop(database, audit, new AuditProgressStore(), metrics, logger),
    ],
  };
}

/** Wire the sale of credits. @param provider null where they are not sold. */
export function composeTopUps(database: Database, provider: PaymentProvider | null, terms: TopUpTerms): TopUpsService {
  return new TopUpsService(database, new TopUpStore(), provider, terms);
}
