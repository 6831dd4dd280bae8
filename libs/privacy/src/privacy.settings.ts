import { integer, setting, type SettingsOf } from '@millrace/platform';

export const privacySettings = {
  erasureSettleSeconds: setting(
    'ERASURE_SETTLE_SECONDS',
    'How long after its request an erasure of a label or an account goes on looking for jobs, in seconds: longer than a process caches keys, and a submission that was under way takes.',
    integer({ min: 0 }).default(60),
  ),
};
export type PrivacySettings = SettingsOf<typeof privacySettings>;
