export {
  type AssetFields,
  type AssetRecord,
  AssetService,
  blobGone,
  blobKey,
  type BlobRef,
  type MintedAsset,
  mintOutputPart,
  type OutputAsset,
  retireAssetPart,
  type OutputStoreOptions,
  type StoredBlob,
  type StoredOutput,
  type UploadFields,
} from './records';
export {
  type PartClaim,
  PartLinks,
  PARTS_PATH,
  type PartState,
  type RawAssetFields,
  type RawUploadFields,
  readAssetFields,
  readHash,
  readUploadFields,
  type ResumableUpload,
  ResumableUploadService,
  TAG_LIMITS,
  type UploadAhead,
  UploadService,
  type UploadStageOptions,
  type UploadTerms,
} from './upload';
export { assetSettings, type AssetSettings } from './assets.settings';
export {
  type BlobStore,
  BlobStoreError,
  type BlobStoreFault,
  type ByteRange,
  openBlobStore,
  type PartSpec,
  type PartStore,
  type PresignOptions,
  type StagedBytes,
  type StageOptions,
  type StoredObject,
} from './store';
export { composeAssets, type Assets, type AssetsParts } from './composition';
export {
  type ContentAnswer,
  type ContentLink,
  ContentLinks,
  type ContentRequest,
  ContentService,
  type LinkBase,
  SIGNED_CONTENT_PATH,
} from './content';
export { outputTypeOf, sniffContentType } from './media';
export { StorageAudit, StorageAuditor, type StorageFindings } from './retention';
