import { accountsSettings, auditArchiveSettings } from '@millrace/accounts';
import { assetSettings } from '@millrace/assets';
import { billingSettings, exportSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { jobSettings } from '@millrace/jobs';
import { mailSettings } from '@millrace/mail';
import { messagingSettings, secretKeySetting } from '@millrace/messaging';
import { modelSettings } from '@millrace/models';
import { processSettings, type SettingsOf } from '@millrace/platform';
import { privacySettings } from '@millrace/privacy';
import { webhookSettings } from '@millrace/webhooks';

export const maintenanceSettings = {
  ...processSettings,
  ...databaseSettings,
  ...messagingSettings,
  ...secretKeySetting,
  ...accountsSettings,
  ...auditArchiveSettings,
  ...assetSettings,
  ...billingSettings,
  ...exportSettings,
  ...jobSettings,
  ...mailSettings,
  ...modelSettings,
  ...privacySettings,
  ...webhookSettings,
};
export type MaintenanceSettings = SettingsOf<typeof maintenanceSettings>;
