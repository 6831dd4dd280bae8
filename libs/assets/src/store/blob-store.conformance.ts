import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { blake3 } from '@napi-rs/blake-hash';
import { Refusal } from '@millrace/contracts';
import { BlobStoreError, type BlobStore } from './blob-store';
import { dropStaged } from '../fixtures/drop-staged';

const MIB = 1024 * 1024;
const unlimited = { maxBytes: Number.MAX_SAFE_INTEGER };
const newKey = (): string => `${randomUUID()}/ab/${randomBytes(8).toString('hex')}`;
const source = (...chunks: Buffer[]): Readable => Readable.from(chunks, { objectMode: false });
/** The bytes as a client sends them: in chunks that fit nothing in particular. */
const inChunks = (bytes: Buffer): Readable => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 99_991) chunks.push(bytes.subarray(at, at + 99_991));
  return source(...chunks);
};

/** What every BlobStore must do. */
export function describeBlobStore(name: string, open: () => Promise<BlobStore>): void {
  describe(name, () => {
    let store: BlobStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const put = async (bytes: Buffer, key = newKey()): Promise<string> => {
      await (await store.stage(inChunks(bytes), unlimited)).place(key);
      return key;
    };
    const read = async (key: string, range?: { start: number; end: number }): Promise<Buffer> =>
      buffer(await store.open(key, range));
    const keys = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { key } of store.list()) found.push(key);
      return found;
    };
    const stagedAfterSweep = (): Promise<number> => dropStaged(store);

    it('says that it can be used', async () => {
      await expect(store.check()).resolves.toBeUndefined();
    });

    it.each([
      ['nothing', 0],
      ['a byte', 1],
      ['one part', 5 * MIB],
      ['a byte more than one part', 5 * MIB + 1],
      ['several parts', 17 * MIB + 12_345],
    ])('keeps %s exactly, and knows its size, hash and beginning before it is placed', async (_, size) => {
      const bytes = randomBytes(size);
      const staged = await store.stage(inChunks(bytes), unlimited);
      expect(staged).toMatchObject({ sizeBytes: size, hash: `blake3:${blake3(bytes).toString('hex')}` });
      expect(staged.head.equals(bytes.subarray(0, 4_096))).toBe(true);
      const key = newKey();
      await staged.place(key);
      expect(await store.stat(key)).toEqual({ sizeBytes: size });
      expect((await read(key)).equals(bytes)).toBe(true);
    });

    it('shows nothing before it is placed, and nothing of what was discarded', async () => {
      const before = await keys();
      const staged = await store.stage(inChunks(randomBytes(6 * MIB)), unlimited);
      expect(await keys()).toEqual(before);
      await staged.discard();
      expect(await keys()).toEqual(before);
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('leaves nothing staged once it is placed', async () => {
      await put(randomBytes(6 * MIB));
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('replaces what is under a key, while readers of the old bytes go on reading', async () => {
      const bytes = randomBytes(6 * MIB);
      const key = await put(bytes);
      const reader = await store.open(key);
      await put(bytes, key);
      expect((await buffer(reader)).equals(bytes)).toBe(true);
      expect((await read(key)).equals(bytes)).toBe(true);
    });

    it.each([
      [0, 0],
      [0, 9],
      [5, 7],
      [9, 9],
    ])('reads the range from %p to %p', async (start, end) => {
      const bytes = randomBytes(10);
      const key = await put(bytes);
      expect(await read(key, { start, end })).toEqual(bytes.subarray(start, end + 1));
    });

    it('refuses more bytes than may come, and leaves nothing behind', async () => {
      const maxBytes = 6 * MIB;
      const tooMany = store.stage(inChunks(randomBytes(maxBytes + 1)), { maxBytes });
      await expect(tooMany).rejects.toMatchObject({ code: 'payload_too_large' });
      await expect(tooMany).rejects.toBeInstanceOf(Refusal);
      const exact = await store.stage(inChunks(randomBytes(maxBytes)), { maxBytes });
      await exact.discard();
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('passes on the failure of its source, and leaves nothing behind', async () => {
      async function* broken(): AsyncGenerator<Buffer> {
        yield randomBytes(6 * MIB);
        throw new Error('the client went away');
      }
      await expect(store.stage(Readable.from(broken()), unlimited)).rejects.toThrow('the client went away');
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('takes the failure of a source that failed before it was read', async () => {
      const source = new Readable({ read: () => undefined });
      const staging = store.stage(source, unlimited);
      source.destroy(new Error('gone already'));
      await expect(staging).rejects.toThrow('gone already');
      const late = new Readable({ read: () => undefined }).on('error', () => undefined);
      late.destroy(new Error('gone before'));
      await expect(store.stage(late, unlimited)).rejects.toThrow('gone before');
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('stops when it is aborted, and leaves nothing behind', async () => {
      const stop = new AbortController();
      let sent = 0;
      const endless = new Readable({
        read() {
          this.push(randomBytes(64 * 1024));
          // By then the first part is on its way, where there are parts.
          sent += 64 * 1024;
          if (sent === 8 * MIB) stop.abort();
        },
      });
      await expect(store.stage(endless, { ...unlimited, signal: stop.signal })).rejects.toThrow(/abort/i);
      expect(endless.destroyed).toBe(true);
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('sweeps what was staged before a time and never placed', async () => {
      await store.stage(inChunks(randomBytes(6 * MIB)), unlimited);
      expect(await dropStaged(store, new Date(Date.now() - 3_600_000))).toBe(0);
      const swept = await stagedAfterSweep();
      expect(swept).toBe(1);
      expect(await stagedAfterSweep()).toBe(0);
    });

    it('deletes, and does not mind deleting again', async () => {
      const key = await put(randomBytes(10));
      await store.delete(key);
      await store.delete(key);
      expect(await store.stat(key)).toBeNull();
      expect(await keys()).not.toContain(key);
      await expect(store.open(key)).rejects.toMatchObject({ fault: 'missing' });
      await expect(store.open(key)).rejects.toBeInstanceOf(BlobStoreError);
    });

    it('lists what is placed, with sizes', async () => {
      const key = await put(randomBytes(321));
      const objects = [];
      for await (const object of store.list()) objects.push(object);
      const [found] = objects.filter((object) => object.key === key);
      expect(found).toMatchObject({ key, sizeBytes: 321 });
      expect(Math.abs(Date.now() - (found?.modifiedAt.getTime() ?? 0))).toBeLessThan(600_000);
    });
  });
}
