export { type Balance } from './balance';
export { billingSettings, holdMicrosOf, type BillingSettings } from './billing.settings';
export { composeBilling, composeTopUps, type Billing, type BillingParts } from './composition';
export { CreditReads } from './credit-reads.service';
export { CreditsService, type Adjustment } from './credits.service';
export { csvText } from './csv';
export { BOOKS, LEDGER_KINDS, type Book, type LedgerKind } from './ledger';
export { LedgerAudit } from './ledger-audit';
export { INSUFFICIENT_CREDITS, LedgerStore, type Hold } from './ledger.store';
export { type LedgerPosition, type LedgerRecord } from './ledger-reads.store';
export { afterDraws, drawFrom, expiring, type Draw, type Lot } from './lots';
export { paymentProviderOf, paymentSettings, type PaymentSettings } from './payment.settings';
export { type Checkout, type PaymentProvider } from './payment-provider';
export { PaymentsService, type PaymentAct } from './payments.service';
export {
  MICROS_PER_CREDIT,
  costMicros,
  creditsText,
  extensionMicros,
  isExhausted,
  type ExtensionTerms,
  type MeteredRun,
} from './price';
export { monthSpan, type Statement } from './statement';
export { TOP_UP_STATUSES, type PaymentNotice, type TopUp } from './top-up';
export { TopUpsService } from './top-ups.service';
export { type UsageGrouping, type UsageReport, type UsageRow } from './usage';
