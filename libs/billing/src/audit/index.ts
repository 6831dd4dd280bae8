export { AuditLedgerLoop } from './audit-ledger.loop';
export { AuditProgressStore } from './audit-progress.store';
export { NOTHING, type AuditSpan, type BookSums } from './audit-span';
export { AuditSpanStore, isWithin } from './audit-span.store';
export { LedgerAuditStore } from './ledger-audit.store';
export { LedgerAudit } from './ledger-audit';
