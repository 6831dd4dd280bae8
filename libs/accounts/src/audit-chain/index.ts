export { archivedLines } from './archived-segment';
export { auditArchiveSettings } from './audit-archive.settings';
export { composeAuditChain, composeAuditChainAuditor, openAuditArchive, type AuditArchive } from './composition';
export { SegmentStore } from './segment.store';
