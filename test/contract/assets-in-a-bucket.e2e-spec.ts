import { BOOT_MS, startAssetStack, type AssetStack } from './support/asset-stack';
import { describeContent } from './support/content-rules';
import { PART_BYTES, describeResumableUploads } from './support/resumable-rules';
import { MAX_UPLOAD_BYTES, describeUploads } from './support/upload-rules';

let world: AssetStack;
beforeAll(async () => {
  world = await startAssetStack('a bucket', {
    MILLRACE_MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
    MILLRACE_UPLOAD_PART_BYTES: String(PART_BYTES),
  });
}, BOOT_MS);
afterAll(() => world.stack.stop());

describe('assets in a bucket', () => {
  describeUploads(() => world);
  describeResumableUploads(() => world);
  describeContent('a bucket', () => world);
});
