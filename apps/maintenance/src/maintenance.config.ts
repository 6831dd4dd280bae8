import { accountsSettings } from '@millrace/accounts';
import { assetSettings } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { jobSettings } from '@millrace/jobs';
import { messagingSettings, secretKeySetting } from '@millrace/messaging';
import { processSettings, type SettingsOf } from '@millrace/platform';
import { webhookSettings } from '@millrace/webhooks';

export const maintenanceSettings = {
  ...processSettings,
  ...databaseSettings,
  ...messagingSettings,
  ...secretKeySetting,
  ...accountsSettings,
  ...assetSettings,
  ...billingSettings,
  ...jobSettings,
  ...webhookSettings,
};
export type MaintenanceSettings = SettingsOf<typeof maintenanceSettings>;
