export { archivedLines } from './archived-segment';
export { auditArchiveSettings } from './audit-archive.settings';
export { composeAuditChain, composeAuditChainAuditor, openAuditArchive } from './composition';
export { SegmentStore } from './segment.store';
