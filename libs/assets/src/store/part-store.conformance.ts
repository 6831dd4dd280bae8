import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { blake3 } from '@napi-rs/blake-hash';
import { BlobStoreError, type BlobStore } from './blob-store';
import { dropStaged } from '../fixtures/drop-staged';

/** The least that S3 takes as a part that is not the last. */
const PART_BYTES = 5 * 1024 * 1024;

/** What the `parts` of every BlobStore must do. */
export function describePartStore(name: string, open: () => Promise<BlobStore>): void {
  describe(`the parts of ${name}`, () => {
    let store: BlobStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const bytes = randomBytes(PART_BYTES + 1_000);
    const pieces = [bytes.subarray(0, PART_BYTES), bytes.subarray(PART_BYTES)];
    const write = (handle: string, number: number, piece: Buffer, sizeBytes = piece.length): Promise<void> =>
      store.parts.write(handle, { number, sizeBytes }, Readable.from([piece]));
    const sent = async (): Promise<string> => {
      const handle = await store.parts.begin();
      // In no particular order, and one of them twice.
      for (const number of [2, 1, 2]) await write(handle, number, pieces[number - 1] as Buffer);
      return handle;
    };

    it('are listed with their sizes, in any order of arrival', async () => {
      const handle = await sent();
      const listed = (await store.parts.list(handle)).sort((a, b) => a.number - b.number);
      expect(listed).toEqual([
        { number: 1, sizeBytes: PART_BYTES },
        { number: 2, sizeBytes: 1_000 },
      ]);
      await store.parts.abort(handle);
    });

    it('are put together, hashed, and placed whole', async () => {
      const handle = await sent();
      const staged = await store.parts.assemble(handle, 2);
      expect(staged).toMatchObject({ sizeBytes: bytes.length, hash: `blake3:${blake3(bytes).toString('hex')}` });
      const key = `of/parts/${randomBytes(8).toString('hex')}`;
      await staged.place(key);
      expect((await buffer(await store.open(key))).equals(bytes)).toBe(true);
      const again = await store.parts.assemble(handle, 2);
      await again.place(key);
      expect((await buffer(await store.open(key))).equals(bytes)).toBe(true);
      await again.discard();
      expect(await dropStaged(store)).toBe(0);
    });

    it('can be put together again when that broke off', async () => {
      const handle = await sent();
      await (await store.parts.assemble(handle, 2)).release();
      const again = await store.parts.assemble(handle, 2);
      expect(again.sizeBytes).toBe(bytes.length);
      await again.discard();
      expect(await dropStaged(store)).toBe(0);
    });

    it('that are not of their size are refused, and leave what was there', async () => {
      const handle = await sent();
      for (const sizeBytes of [999, 1_001]) {
        const refused = write(handle, 2, pieces[1] as Buffer, sizeBytes);
        await expect(refused).rejects.toMatchObject({ name: 'Refusal', code: 'invalid_request' });
      }
      expect(await store.parts.list(handle)).toHaveLength(2);
      await store.parts.abort(handle);
    });

    it('are gone after an abort, which may be repeated', async () => {
      const handle = await sent();
      await store.parts.abort(handle);
      await store.parts.abort(handle);
      expect(await store.parts.list(handle)).toEqual([]);
      await expect(store.parts.assemble(handle, 2)).rejects.toBeInstanceOf(BlobStoreError);
      expect(await dropStaged(store)).toBe(0);
    });
  });
}
