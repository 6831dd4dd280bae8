export {
  readAssetFields,
  readHash,
  readUploadFields,
  TAG_LIMITS,
  type RawAssetFields,
  type RawUploadFields,
} from './asset-fields';
export { PartLinks, PARTS_PATH, type PartClaim } from './part-links';
export { ResumableUploadService, type PartState } from './resumable-upload.service';
export { ResumableUploadStore, type ResumableUpload } from './resumable-upload.store';
export { UploadDayStore } from './upload-day.store';
export { UploadService, type UploadAhead, type UploadStageOptions, type UploadTerms } from './upload.service';
