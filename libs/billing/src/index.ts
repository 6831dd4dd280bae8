export { billingSettings, holdMicrosOf, type BillingSettings } from './billing.settings';
export { CreditsService, type BalanceView } from './credits.service';
export { BOOKS, LEDGER_KINDS, type Book, type LedgerKind } from './ledger';
export { INSUFFICIENT_CREDITS, LedgerStore, type Hold } from './ledger.store';
export { MICROS_PER_CREDIT, costMicros } from './price';
