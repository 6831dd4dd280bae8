import { networkList, setting, type SettingsOf } from '@millrace/platform';

export const exportSettings = {
  exportAllowedNetworks: setting(
    'EXPORT_ALLOWED_NETWORKS',
    'Networks (CIDR, with commas between) in which S3 servers that accounts name for their daily exports may be though they are private, also over http://. Unset: they are public, with https:// alone.',
    networkList.default([]),
  ),
};
export type ExportSettings = SettingsOf<typeof exportSettings>;
