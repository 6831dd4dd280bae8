import { integer, setting } from '@millrace/platform';

/** The database refuses to delete an entry that is younger (trigger `audit_log_keep_trigger`). */
export const AUDIT_LOG_FLOOR_SECONDS = 90 * 86_400;

export const accountsSettings = {
  auditLogRetentionSeconds: setting(
    'AUDIT_LOG_RETENTION_SECONDS',
    'How long entries of the audit log are kept, in seconds; 90 days at least, which the database enforces.',
    integer({ min: AUDIT_LOG_FLOOR_SECONDS }).default(400 * 86_400),
  ),
};
