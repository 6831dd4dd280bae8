export { AuditLedgerLoop } from './audit-ledger.loop';
export { LedgerAuditStore } from './ledger-audit.store';
export { LedgerAudit } from './ledger-audit';
