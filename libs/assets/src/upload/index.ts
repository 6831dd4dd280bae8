export { readMintFields, readUploadFields } from './asset-fields';
export { OutputUploads } from './output-uploads.service';
export { PartLinks } from './part-links';
export { ResumableUploadService, type BeginTransaction, type PartState } from './resumable-upload.service';
export { ResumableUploadStore, type ResumableUpload } from './resumable-upload.store';
export { UploadDayStore } from './upload-day.store';
export { UploadService, type ReservedBytes } from './upload.service';
