import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import { AddressGuard, type KeyRing, type Logger, type Loop, type Metrics } from '@millrace/platform';
import { AuditLedgerLoop, AuditProgressStore, AuditSpanStore, LedgerAudit, LedgerAuditStore } from './audit';
import {
  CollectOwedCreditsLoop,
  PaymentsService,
  TopUpsService,
  TopUpStore,
  type PaymentProvider,
  type TopUpTerms,
} from './payments';
import {
  DeliverExportsLoop,
  DeliveryStore,
  DestinationSecrets,
  DestinationStore,
  ExportDeliverer,
  ExportDeliveries,
  ExportDestinations,
  ResealExportSecretsLoop,
  SweepExportsLoop,
  type ExportSettings,
  type ObjectWriter,
} from './delivery';
import { DailyExports, ExportStore } from './exports';
import { CreditReads, ForgetLabelsLoop, NoteSpendAnomaliesLoop, SpendAnomalyStore, UsageStore } from './usage';
import { CreditAlerts, CreditAlertStore, CreditsService, ExpireCreditsLoop, LotStore } from './credits';
import { BalanceRepair, RepairStore } from './repair';
import { CloseLedgerDaysLoop, LedgerDaysStore, LedgerReadsStore, LedgerStore, PostingStore } from './ledger';

/** Transactions of the ledger that the audit reads in one step. */
const AUDITED_AT_ONCE = 20_000;

/** What credits are built on, made by the process that uses them. */
export interface BillingParts {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  settings: { jobExecutionDeadlineSeconds: number };
  /** Whom the chores write to; a process that runs none has none. */
  moneyMails?: MoneyMails;
}

const NO_MAILS: MoneyMails = { add: () => Promise.resolve() };

/** The use cases of credits, wired. */
export interface Billing {
  credits: CreditsService;
  alerts: CreditAlerts;
  reads: CreditReads;
  exports: DailyExports;
  audit: LedgerAudit;
  repair: BalanceRepair;
  payments: PaymentsService;
  /** Chores, for the process that runs chores. */
  loops: Loop[];
}

/** Wire the credits of one process. */
export function composeBilling(
  { database, logger, metrics, settings, moneyMails = NO_MAILS }: BillingParts,
  provider: PaymentProvider | null = null,
): Billing {
  const ledger = new LedgerStore();
  const lots = new LotStore();
  const postings = new PostingStore();
  const credits = new CreditsService(database, ledger, postings, lots);
  const payments = new PaymentsService(database, new TopUpStore(), postings, credits, logger, provider);
  const spans = new AuditSpanStore(AUDITED_AT_ONCE);
  const checks = new LedgerAuditStore();
  const audit = new LedgerAudit(database, spans, checks);
  return {
    credits,
    alerts: new CreditAlerts(database, new CreditAlertStore()),
    reads: new CreditReads(database, ledger, new LedgerReadsStore(), new UsageStore()),
    exports: new DailyExports(database, new ExportStore()),
    audit,
    repair: new BalanceRepair(database, spans, checks, new RepairStore()),
    payments,
    loops: [
      new ExpireCreditsLoop(database, lots, credits, settings.jobExecutionDeadlineSeconds * 1000),
      new CollectOwedCreditsLoop(payments),
      new CloseLedgerDaysLoop(database, new LedgerDaysStore()),
      new ForgetLabelsLoop(database, new UsageStore()),
      new NoteSpendAnomaliesLoop(database, new SpendAnomalyStore(), moneyMails),
      new AuditLedgerLoop(database, audit, new AuditProgressStore(), metrics, logger),
    ],
  };
}

/** Wire the sale of credits. @param provider null where they are not sold. */
export function composeTopUps(database: Database, provider: PaymentProvider | null, terms: TopUpTerms): TopUpsService {
  return new TopUpsService(database, new TopUpStore(), provider, terms);
}

/** What deliveries of exports are built on. */
interface ExportDeliveryParts {
  database: Database;
  secretKey: KeyRing;
  exports: DailyExports;
  /** The service's own bucket; null where it keeps its bytes in a folder. */
  ownBucket: string | null;
}

/** Wire what accounts do with the delivery of their exports, and read of it. */
export function composeExportDestinations(
  { database, secretKey, exports, ownBucket }: ExportDeliveryParts,
  { exportAllowedNetworks }: ExportSettings,
): { destinations: ExportDestinations; deliveries: ExportDeliveries } {
  const guard = new AddressGuard(exportAllowedNetworks);
  const secrets = new DestinationSecrets(secretKey);
  const places = new DestinationStore();
  return {
    destinations: new ExportDestinations(database, places, secrets, guard, exports, ownBucket !== null),
    deliveries: new ExportDeliveries(database, new DeliveryStore(), exports),
  };
}

/** Wire what writes exports, for the process that runs chores. @param writer belongs to it from now on: it is closed with it. */
export function composeExportDelivery(
  { database, secretKey, exports, ownBucket, logger }: ExportDeliveryParts & { logger: Logger },
  writer: ObjectWriter,
): { loops: Loop[]; close(): Promise<void> } {
  const secrets = new DestinationSecrets(secretKey);
  const deliverer = new ExportDeliverer(database, exports, secrets, writer, ownBucket, logger);
  return {
    loops: [
      new DeliverExportsLoop(deliverer),
      new SweepExportsLoop(database, new DeliveryStore()),
      new ResealExportSecretsLoop(database, new DestinationStore(), secrets),
    ],
    close: () => deliverer.close(),
  };
}
