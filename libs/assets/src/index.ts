export {
  AssetService,
  blobGone,
  blobKey,
  mintOutputPart,
  retireAssetPart,
  type AssetFields,
  type AssetRecord,
  type BlobRef,
  type MintedAsset,
  type OutputAsset,
  type OutputStoreOptions,
  type StoredBlob,
  type StoredOutput,
  type UploadFields,
} from './records';
export {
  PartLinks,
  PARTS_PATH,
  readAssetFields,
  readHash,
  readUploadFields,
  ResumableUploadService,
  TAG_LIMITS,
  UploadService,
  type PartClaim,
  type PartState,
  type RawAssetFields,
  type RawUploadFields,
  type ResumableUpload,
  type UploadAhead,
  type UploadStageOptions,
  type UploadTerms,
} from './upload';
export { assetSettings, type AssetSettings } from './assets.settings';
export {
  BlobStoreError,
  openBlobStore,
  type BlobStore,
  type BlobStoreFault,
  type ByteRange,
  type PartSpec,
  type PartStore,
  type PresignOptions,
  type StagedBytes,
  type StageOptions,
  type StoredObject,
} from './store';
export { composeAssets, type Assets, type AssetsParts } from './composition';
export {
  ContentLinks,
  ContentService,
  SIGNED_CONTENT_PATH,
  type ContentAnswer,
  type ContentLink,
  type ContentRequest,
  type LinkBase,
} from './content';
export { outputTypeOf, sniffContentType } from './media';
export { StorageAudit, StorageAuditor, type StorageFindings } from './retention';
