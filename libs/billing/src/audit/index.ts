export { AuditLedgerLoop } from './audit-ledger.loop';
export { AuditProgressStore } from './audit-progress.store';
export { AuditSpanStore } from './audit-span.store';
export { LedgerAuditStore } from './ledger-audit.store';
export { LedgerAudit } from './ledger-audit';
