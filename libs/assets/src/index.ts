export { type AssetFields, type AssetRecord, type MintedAsset, type UploadFields } from './asset';
export {
  TAG_LIMITS,
  readAssetFields,
  readHash,
  readUploadFields,
  type RawAssetFields,
  type RawUploadFields,
} from './asset-fields';
export { AssetService, type OutputStoreOptions, type StoredOutput } from './asset.service';
export { assetSettings, type AssetSettings } from './assets.settings';
export { blobKey, type BlobRef, type StoredBlob } from './blob';
export { blobGone } from './blob.service';
export {
  BlobStoreError,
  type BlobStore,
  type BlobStoreFault,
  type ByteRange,
  type PresignOptions,
  type StageOptions,
  type StagedBytes,
  type StoredObject,
} from './blob-store';
export { composeAssets, type Assets, type AssetsParts } from './composition';
export { type ContentRequest } from './content-answer';
export { ContentLinks, SIGNED_CONTENT_PATH, type ContentLink, type LinkBase } from './content-links';
export { outputTypeOf, sniffContentType } from './content-type';
export { ContentService, type ContentAnswer } from './content.service';
export { openBlobStore } from './open-blob-store';
export { OutputAssetStore, type OutputAsset } from './output-asset.store';
export { PARTS_PATH, PartLinks, type PartClaim } from './part-links';
export { type PartSpec, type PartStore } from './part-store';
export { ResumableUploadService, type PartState } from './resumable-upload.service';
export { type ResumableUpload } from './resumable-upload.store';
export { StorageAudit, type StorageFindings } from './storage-audit';
export { StorageAuditor } from './storage-auditor';
export { UploadService, type UploadAhead, type UploadStageOptions, type UploadTerms } from './upload.service';
