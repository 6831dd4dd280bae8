export {
  AssetService,
  blobGone,
  blobKey,
  mintOutputPart,
  retireAssetPart,
  type AssetRecord,
  type BlobRef,
  type OutputAsset,
  type StoredBlob,
  type StoredOutput,
} from './records';
export {
  PartLinks,
  readAssetFields,
  readHash,
  readUploadFields,
  ResumableUploadService,
  UploadService,
  type PartState,
  type RawUploadFields,
  type ResumableUpload,
} from './upload';
export { assetSettings } from './assets.settings';
export { BlobStoreError, openBlobStore, type BlobStoreFault, type StagedBytes } from './store';
export { composeAssets, type Assets } from './composition';
export { ContentLinks, ContentService } from './content';
export { outputTypeOf } from './media';
export { StorageAuditor } from './retention';
