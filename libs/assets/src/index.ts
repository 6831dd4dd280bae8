export {
  ASSET_KINDS,
  AssetService,
  blobGone,
  blobKey,
  mintOrKeepOutputPart,
  mintOutputPart,
  STORAGE_FULL,
  storageFull,
  storageNotFullPart,
  storagesNotFullPart,
  StorageQuota,
  StorageStore,
  wholeAccount,
  type AssetFields,
  type AssetRecord,
  type AssetScope,
  type BlobRef,
  type InputContent,
  type OutputAsset,
  type StoredBlob,
  type StoredOutput,
} from './records';
export {
  OutputUploads,
  PartLinks,
  readMintFields,
  readUploadFields,
  ResumableUploadService,
  UploadService,
  type BeginTransaction,
  type PartState,
  type ReservedBytes,
  type ResumableUpload,
} from './upload';
export { assetSettings, LARGEST_PART_BYTES, type AssetSettings } from './assets.settings';
export {
  BlobStoreError,
  ByteMeter,
  composeArchiveBucket,
  composeNamedBuckets,
  openBlobStore,
  type BlobStoreFault,
  type NoteStore,
} from './store';
export { AssetEraser } from './erasure';
export { composeAssets, type Assets } from './composition';
export { ContentLinks, ContentService, type LinkBase } from './content';
export { outputTypeOf } from './media';
export { StorageAuditor, UNKNOWN_STORE } from './retention';
