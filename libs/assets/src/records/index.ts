export { AssetService, noAsset, type StoredOutput } from './asset.service';
export { AssetStore } from './asset.store';
export { type AssetFields, type AssetRecord, type MintedAsset, type UploadFields } from './asset';
export { BlobRecordStore, type BlobRecord, type CondemnedBlob } from './blob-record.store';
export { blobGone, BlobService } from './blob.service';
export { blobKey, blobOfKey, type BlobRef, type StoredBlob } from './blob';
export { baseName, isPlainText, readFilePath } from './file-path';
export { mintOutputPart, retireAssetPart, type OutputAsset } from './output-asset.store';
