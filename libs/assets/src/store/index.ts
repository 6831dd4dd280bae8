export {
  BlobStoreError,
  type BlobStore,
  type BlobStoreFault,
  type ByteRange,
  type PresignOptions,
  type StagedBytes,
  type StagedLeftover,
  type StageOptions,
} from './blob-store';
export { ByteMeter, fileTooLarge, hashOf, HEAD_BYTES } from './byte-meter';
export { composeArchiveBucket, composeNamedBuckets, openBlobStore } from './open-blob-store';
export { type NoteStore } from './note-store';
export { type PartSpec, type PartStore } from './part-store';
export { takeSource } from './staging-source';
