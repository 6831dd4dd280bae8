export { ExpireAssetsLoop } from './expire-assets.loop';
export { StorageAudit } from './storage-audit';
export { StorageAuditor } from './storage-auditor';
export { SweepBlobsLoop } from './sweep-blobs.loop';
export { SweepStagingLoop } from './sweep-staging.loop';
export { SweepUploadDaysLoop } from './sweep-upload-days.loop';
export { SweepUploadsLoop } from './sweep-uploads.loop';
