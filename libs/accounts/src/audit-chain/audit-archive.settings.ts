import { z } from 'zod';
import { integer, setting, type SettingsOf } from '@millrace/platform';

export const auditArchiveSettings = {
  auditBucket: setting(
    'AUDIT_BUCKET',
    'Bucket to which the sealed segments of the audit log are exported, on the server and with the credentials of the S3 settings. Unset: they are not exported.',
    z.string().min(3, 'must be the name of a bucket').optional(),
  ),
  auditPrefix: setting(
    'AUDIT_PREFIX',
    'What the names of exported segments begin with: empty, or ending with /.',
    z
      .string()
      .regex(/^(?:[\w.-]+\/)*$/, 'must be empty, or folders of letters, digits, _ . and -, each ending with /')
      .default('audit-log/'),
  ),
  auditLockDays: setting(
    'AUDIT_LOCK_DAYS',
    'Days for which nobody can delete or replace an exported segment (Object Lock in compliance mode, which the bucket must offer). 0: they are not locked.',
    integer({ min: 0, max: 3_650 }).default(0),
  ),
};
export type AuditArchiveSettings = SettingsOf<typeof auditArchiveSettings>;
