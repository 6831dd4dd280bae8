import { integer, setting, type SettingsOf } from '@millrace/platform';

export const privacySettings = {
  erasureSettleSeconds: setting(
    'ERASURE_SETTLE_SECONDS',
    'How long after its request an erasure of a label or an account goes on looking for jobs, in seconds: longer than a process caches keys, and a batch that was under way may take to be recorded, which is three minutes.',
    integer({ min: 0 }).default(300),
  ),
  backupRetentionDays: setting(
    'BACKUP_RETENTION_DAYS',
    'For how long backups of the database are kept, in days: as long a note of each erasure is kept, by which it is done again after a restore.',
    integer({ min: 1, max: 3_650 }).default(90),
  ),
};
export type PrivacySettings = SettingsOf<typeof privacySettings>;
