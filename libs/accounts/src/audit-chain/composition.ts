import type { Statements } from '@millrace/database';
import { SettingsError, type Logger, type Loop, type Metrics } from '@millrace/platform';
import type { ArchivePlace } from './archive-faults';
import type { AuditArchiveSettings } from './audit-archive.settings';
import { AuditChainAuditor } from './audit-chain.auditor';
import { ExportAuditLogLoop } from './export-audit-log.loop';
import { MeasureAuditLogLoop } from './measure-audit-log.loop';
import { SealAuditLogLoop } from './seal-audit-log.loop';
import type { SegmentArchive } from './segment-archive';
import { SegmentStore } from './segment.store';

/** What sealing and exporting is built on, made by the process that runs chores. */
interface AuditChainParts {
  database: Statements;
  logger: Logger;
  metrics: Metrics;
  archive: AuditArchive | null;
}

/** An archive, and what names of its objects begin with; null where nothing is exported. */
interface AuditArchive extends ArchivePlace {
  archive: SegmentArchive;
}

/**
 * The archive that the settings name.
 *
 * @param open what makes it, of the process that knows buckets.
 * @returns null when they name none. @throws SettingsError when they lock what is nowhere.
 */
export function openAuditArchive(
  { auditBucket, auditPrefix: prefix, auditLockDays }: AuditArchiveSettings,
  open: (bucket: string, lockDays: number) => SegmentArchive,
): AuditArchive | null {
  if (auditBucket !== undefined) return { archive: open(auditBucket, auditLockDays), prefix };
  if (auditLockDays === 0) return null;
  throw new SettingsError(['MILLRACE_AUDIT_LOCK_DAYS is set without MILLRACE_AUDIT_BUCKET; set both or neither.']);
}

/** What proves that the log is what was sealed. @param compared segments that are compared with the archive: the newest, or all. */
export function composeAuditChainAuditor(
  database: Statements,
  archive: AuditArchive | null,
  compared: 'newest' | 'all' = 'newest',
): AuditChainAuditor {
  return new AuditChainAuditor(database, new SegmentStore(), archive && { ...archive, compared });
}

/** The chores of the chain. */
export function composeAuditChain({ database, logger, metrics, archive }: AuditChainParts): Loop[] {
  const segments = new SegmentStore();
  return [
    new SealAuditLogLoop(database, segments, logger),
    new MeasureAuditLogLoop(database, segments, metrics, archive !== null),
    ...(archive === null ? [] : [new ExportAuditLogLoop(database, segments, archive.archive, archive.prefix)]),
  ];
}
