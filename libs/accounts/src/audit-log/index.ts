export { AccountAuditLog } from './account-audit-log';
export { actorSeenByAccount, actorsSeenByAccount, type AccountAuditFilter } from './audit-list.store';
export type { Act, ActDetails, AuditEntry, Operator } from './audit-log';
export { AuditLog } from './audit-log.service';
export { AuditLogStore } from './audit-log.store';
export { RefusalLog } from './refusal-log';
export { SweepAuditLogLoop } from './sweep-audit-log.loop';
