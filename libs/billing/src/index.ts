export {
  endHoldParts,
  extendHold,
  coversHoldPart,
  holdPart,
  holdEntriesPart,
  holdsPart,
  setAsidePart,
  INSUFFICIENT_CREDITS,
  LEDGER_KINDS,
  LedgerStore,
  monthSpan,
  type Balance,
  type LedgerRecord,
  type Statement,
} from './ledger';
export { billingSettings, holdMicrosOf, type BillingSettings } from './billing.settings';
export {
  DELIVERY_STATES,
  EXPORT_DISABLED_REASONS,
  ExportDeliveries,
  ExportDestinations,
  exportSettings,
  type DestinationDraft,
  type ExportDelivery,
  type ExportDestination,
} from './delivery';
export { BookErasureStore } from './erasure';
export { DailyExports, type DailyExport, type Dataset } from './exports';
export {
  composeBilling,
  composeExportDelivery,
  composeExportDestinations,
  composeTopUps,
  type Billing,
} from './composition';
export { CreditReads, csvRows, csvText, type UsageGrouping, type UsageReport, type UsageRow } from './usage';
export { afterDraws, CreditAlerts, CreditAlertStore, CreditsService, drawFrom, expiring, type Lot } from './credits';
export { BalanceRepair, type Rebuild } from './repair';
export {
  paymentProviderOf,
  paymentSettings,
  PaymentsService,
  TOP_UP_STATUSES,
  TopUpsService,
  type PaymentNotice,
  type PaymentProvider,
  type TopUp,
} from './payments';
export {
  chargeMicros,
  chargePart,
  costMicros,
  creditsText,
  extensionMicros,
  isExhausted,
  needsMore,
  type BilledColumn,
  type ExtensibleColumn,
  type ExtensionTerms,
  type MeteredColumn,
  type MeteredRun,
} from './price';
