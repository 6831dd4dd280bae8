export {
  type Balance,
  type Book,
  BOOKS,
  endHoldParts,
  extendHold,
  type HeldRun,
  type Hold,
  holdPart,
  INSUFFICIENT_CREDITS,
  LEDGER_KINDS,
  type LedgerKind,
  type LedgerPosition,
  type LedgerRecord,
  LedgerStore,
  monthSpan,
  type Statement,
} from './ledger';
export { billingSettings, holdMicrosOf, type BillingSettings } from './billing.settings';
export { composeBilling, composeTopUps, type Billing, type BillingParts } from './composition';
export { CreditReads, csvText, type UsageGrouping, type UsageReport, type UsageRow } from './usage';
export { type Adjustment, afterDraws, CreditsService, type Draw, drawFrom, expiring, type Lot } from './credits';
export { LedgerAudit } from './audit';
export {
  type Checkout,
  type PaymentAct,
  type PaymentNotice,
  type PaymentProvider,
  paymentProviderOf,
  paymentSettings,
  type PaymentSettings,
  PaymentsService,
  TOP_UP_STATUSES,
  type TopUp,
  TopUpsService,
} from './payments';
export {
  type BilledColumn,
  chargeMicros,
  chargePart,
  creditsText,
  extensionMicros,
  type ExtensionTerms,
  isExhausted,
  type MeteredColumn,
  type MeteredRun,
  MICROS_PER_CREDIT,
} from './price';
