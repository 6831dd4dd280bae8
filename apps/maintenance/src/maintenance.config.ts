import { accountsSettings } from '@millrace/accounts';
import { assetSettings } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { jobSettings } from '@millrace/jobs';
import { messagingSettings } from '@millrace/messaging';
import { processSettings, type SettingsOf } from '@millrace/platform';

export const maintenanceSettings = {
  ...processSettings,
  ...databaseSettings,
  ...messagingSettings,
  ...accountsSettings,
  ...assetSettings,
  ...billingSettings,
  ...jobSettings,
};
export type MaintenanceSettings = SettingsOf<typeof maintenanceSettings>;
