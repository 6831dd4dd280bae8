import { integer, networkList, setting, type SettingsOf } from '@millrace/platform';

const DAY_SECONDS = 86_400;

export const webhookSettings = {
  webhookAllowedNetworks: setting(
    'WEBHOOK_ALLOWED_NETWORKS',
    'Networks (CIDR, with commas between) in which receivers of webhooks may be though they are private, also over http://. Unset: receivers are public, with https:// alone.',
    networkList.default([]),
  ),
  webhookEndpointsPerAccount: setting(
    'WEBHOOK_ENDPOINTS_PER_ACCOUNT',
    'Webhook endpoints that one account may have.',
    integer({ min: 0, max: 1_000 }).default(10),
  ),
  webhookTimeoutSeconds: setting(
    'WEBHOOK_TIMEOUT_SECONDS',
    'How long a receiver of webhooks may take to answer, in seconds.',
    integer({ min: 1, max: 30 }).default(15),
  ),
  webhookRetentionSeconds: setting(
    'WEBHOOK_RETENTION_SECONDS',
    'How long messages of webhooks and the log of their attempts are kept, in seconds; longer than they are retried.',
    integer({ min: 4 * DAY_SECONDS }).default(14 * DAY_SECONDS),
  ),
};
export type WebhookSettings = SettingsOf<typeof webhookSettings>;
