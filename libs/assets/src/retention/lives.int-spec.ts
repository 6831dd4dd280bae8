import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { makeAccount } from '@millrace/testing';
import type { AssetRecord } from '../records/asset';
import { BlobStoreError } from '../store/blob-store';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { wholeAccount } from '../records/asset-scope.store';

const CONTENTS = ['one', 'two'].map((text) => Buffer.from(text.repeat(50)));
const ACTIONS = ['upload', 'reference', 'delete', 'sweep', 'expire'] as const;
type Action = (typeof ACTIONS)[number];
/** An asset that there is or was, and what its bytes must be. */
interface Known {
  asset: AssetRecord;
  bytes: Buffer;
}

/** What one customer or chore does, one thing after the other, with pauses that decide who meets whom. */
const actor = fc.array(
  fc.record({
    action: fc.constantFrom(...ACTIONS),
    content: fc.nat(CONTENTS.length - 1),
    pauseMs: fc.nat(4),
  }),
  { minLength: 4, maxLength: 10 },
);

let world: AssetWorld;
let here: AssetProcess;
beforeAll(async () => {
  world = await createAssetWorld();
  // No grace at all: every orphan is swept at once, so that what is promised cannot rest on time.
  here = world.process(world.store, { blobGraceSeconds: 0 });
});
afterAll(() => world.drop());

/** A refusal or a sweep that was faster are answers; anything else is not. */
function isAnswer(error: unknown): boolean {
  if (error instanceof BlobStoreError) return error.fault === 'missing';
  return error instanceof Error && error.name === 'Refusal';
}

it('every asset has its bytes and every byte its record, in any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(actor, { minLength: 3, maxLength: 5 }), async (actors) => {
      const accountId = await makeAccount(world.database);
      const known: Known[] = [];
      const failures: unknown[] = [];
      await Promise.all(
        actors.map(async (steps) => {
          for (const { action, content, pauseMs } of steps) {
            await pause(pauseMs);
            await act(accountId, known, action, CONTENTS[content] as Buffer).catch((error: unknown) => {
              if (!isAnswer(error)) failures.push(error);
            });
          }
        }),
      );

      expect(failures).toEqual([]);
      for (const blob of await world.blobs(accountId)) expect(blob.assets > 0).toBe(blob.state === 'live');
      for (const { asset, bytes } of known) {
        const read = await here.read(asset).catch((error: unknown) => error);
        if (!(read instanceof Error)) expect(read).toEqual(bytes);
        else expect(read).toMatchObject({ name: 'Refusal', code: 'not_found' });
      }
      expect(await here.audit.run(true)).toMatchObject({ lostBlobs: [], corruptBlobs: [] });
    }),
    { numRuns: 40 },
  );
});

async function act(accountId: string, known: Known[], action: Action, bytes: Buffer): Promise<void> {
  const some = known[known.length >> 1];
  const filePath = String(known.length % 3);
  if (action === 'upload') known.push({ bytes, ...(await here.upload(accountId, bytes, { filePath })) });
  else if (action === 'sweep') await here.runLoop('sweep-blobs');
  else if (some === undefined) return;
  else if (action === 'delete') await here.assets.remove(wholeAccount(accountId), some.asset.id);
  else if (action === 'reference') {
    const fields = { filePath, tags: [], expiresInSeconds: null };
    const { asset } = await here.uploads.fromHash(wholeAccount(accountId), some.asset.blob.hash, fields);
    known.push({ bytes: some.bytes, asset });
  } else {
    await world.letExpire([some.asset.id]);
    await here.runLoop('expire-assets');
  }
}
