import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import {
  AssetListStore,
  AssetService,
  AssetStore,
  BlobDamages,
  BlobDamageStore,
  BlobRecordStore,
  BlobService,
  StorageQuota,
  StorageStore,
} from './records';
import type { AssetSettings } from './assets.settings';
import type { BlobStore } from './store';
import { ContentService } from './content';
import { AssetEraser, AssetErasureStore } from './erasure';
import {
  ExpireAssetsLoop,
  RecountStorageLoop,
  StorageAudit,
  StorageCountAuditor,
  SweepBlobsLoop,
  SweepReservationsLoop,
  SweepStagingLoop,
  SweepUploadDaysLoop,
  SweepUploadsLoop,
} from './retention';
import { OutputUploads, ResumableUploadService, ResumableUploadStore, UploadDayStore, UploadService } from './upload';

/** What assets are built on, made by the process that uses them. */
export interface AssetsParts {
  database: Database;
  store: BlobStore;
  settings: Pick<
    AssetSettings,
    | 'maxUploadBytes'
    | 'maxResumableUploadBytes'
    | 'uploadPartBytes'
    | 'assetRetentionSeconds'
    | 'storageBytesPerAccount'
    | 'uploadBytesInMemory'
    | 'blobGraceSeconds'
    | 'signedUrlSeconds'
  >;
}

/** The use cases of assets, wired. Every process takes from it what it needs. */
export interface Assets {
  assets: AssetService;
  uploads: UploadService;
  resumable: ResumableUploadService;
  outputUploads: OutputUploads;
  quota: StorageQuota;
  content: ContentService;
  eraser: AssetEraser;
  /** Chores, for the process that runs chores. */
  loops: Loop[];
  audit: StorageAudit;
  countAuditor: StorageCountAuditor;
}

/** Wire the assets of one process. Opens nothing by itself. */
export function composeAssets({ database, store, settings }: AssetsParts): Assets {
  const assetStore = new AssetStore();
  const records = new BlobRecordStore();
  const uploadDays = new UploadDayStore();
  const storage = new StorageStore();
  const quota = new StorageQuota(database, storage, settings);
  const damages = new BlobDamages(database, new BlobDamageStore(), store);
  const blobs = new BlobService(database, records, storage, store, damages);
  const assets = new AssetService(database, assetStore, new AssetListStore(), records, blobs);
  const resumables = new ResumableUploadStore();
  const uploads = new UploadService(database, assetStore, records, uploadDays, resumables, blobs, quota, settings);
  const resumable = new ResumableUploadService(database, resumables, store.parts, uploads, assets, quota, settings);
  return {
    assets,
    uploads,
    resumable,
    outputUploads: new OutputUploads(store.parts, blobs, settings),
    quota,
    eraser: new AssetEraser(database, new AssetErasureStore(), resumable, blobs),
    content: new ContentService(database, assets, assetStore, blobs, damages, settings),
    loops: [
      new ExpireAssetsLoop(database, assetStore, records),
      new SweepBlobsLoop(blobs, settings.blobGraceSeconds),
      new SweepUploadsLoop(resumable),
      new SweepStagingLoop(store),
      new SweepUploadDaysLoop(database, uploadDays),
      new SweepReservationsLoop(database, storage),
      new RecountStorageLoop(database, storage),
    ],
    audit: new StorageAudit(database, records, store, damages),
    countAuditor: new StorageCountAuditor(database, storage),
  };
}
