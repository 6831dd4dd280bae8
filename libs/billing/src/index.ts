export {
  BOOKS,
  endHoldParts,
  extendHold,
  holdPart,
  INSUFFICIENT_CREDITS,
  LEDGER_KINDS,
  LedgerStore,
  monthSpan,
  type Balance,
  type Book,
  type HeldRun,
  type Hold,
  type LedgerKind,
  type LedgerPosition,
  type LedgerRecord,
  type Statement,
} from './ledger';
export { billingSettings, holdMicrosOf, type BillingSettings } from './billing.settings';
export { composeBilling, composeTopUps, type Billing, type BillingParts } from './composition';
export { CreditReads, csvText, type UsageGrouping, type UsageReport, type UsageRow } from './usage';
export { afterDraws, CreditsService, drawFrom, expiring, type Adjustment, type Draw, type Lot } from './credits';
export { LedgerAudit } from './audit';
export {
  paymentProviderOf,
  paymentSettings,
  PaymentsService,
  TOP_UP_STATUSES,
  TopUpsService,
  type Checkout,
  type PaymentAct,
  type PaymentNotice,
  type PaymentProvider,
  type PaymentSettings,
  type TopUp,
} from './payments';
export {
  chargeMicros,
  chargePart,
  creditsText,
  extensionMicros,
  isExhausted,
  MICROS_PER_CREDIT,
  type BilledColumn,
  type ExtensionTerms,
  type MeteredColumn,
  type MeteredRun,
} from './price';
