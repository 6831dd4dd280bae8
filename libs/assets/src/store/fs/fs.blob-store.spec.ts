import { randomBytes } from 'node:crypto';
import { readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { collectGarbage, createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import type { StagedBytes } from '../blob-store';
import { describeBlobStore } from '../blob-store.conformance';
import { fsFaultOf } from './fs-fault';
import { FsBlobStore } from './fs.blob-store';
import { describeNoteStore } from '../note-store.conformance';
import { describePartStore } from '../part-store.conformance';

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.drop());

describeBlobStore('a folder of blobs', async () => new FsBlobStore(folder.path));
describePartStore('a folder', async () => new FsBlobStore(join(folder.path, 'of-parts')));
describeNoteStore('a folder', async () => new FsBlobStore(join(folder.path, 'of-notes')));

describe('a folder of blobs', () => {
  it('needs no folders made before its first upload', async () => {
    const store = new FsBlobStore(join(folder.path, 'new'));
    await (await store.stage(Readable.from([Buffer.from('x')]), { maxBytes: 1 })).place('a/b/c');
    expect(await readdir(join(folder.path, 'new', 'blobs', 'a', 'b'))).toEqual(['c']);
  });

  it.each([
    ['none', 0],
    ['few', 64 * 1024],
  ])('makes a file of %s bytes when they are placed, and none before', async (_, size) => {
    const dir = join(folder.path, `small-${size}`);
    const store = new FsBlobStore(dir);
    await store.check();
    const bytes = randomBytes(size);
    const staged = await store.stage(Readable.from([bytes]), { maxBytes: size });
    expect(await readdir(join(dir, 'staging'))).toEqual([]);
    await staged.place('a/b');
    expect(await readdir(join(dir, 'staging'))).toEqual([]);
    expect(await readFile(join(dir, 'blobs', 'a', 'b'))).toEqual(bytes);
  });

  it('makes a file of few bytes before they are placed where they are flushed, and discards it too', async () => {
    const dir = join(folder.path, 'flushed');
    const store = new FsBlobStore(dir);
    await store.check();
    const stage = async (text: string): Promise<StagedBytes> => {
      const staged = await store.stage(Readable.from([Buffer.from(text)]), { maxBytes: 9 });
      await staged.flush?.();
      expect(await readdir(join(dir, 'staging'))).toHaveLength(1);
      return staged;
    };
    const kept = await stage('kept');
    await kept.place('a/b');
    await kept.discard();
    expect(await readFile(join(dir, 'blobs', 'a', 'b'), 'utf8')).toBe('kept');
    const left = await stage('left');
    await left.discard();
    expect(await readdir(join(dir, 'staging'))).toEqual([]);
    expect(await readdir(join(dir, 'blobs', 'a'))).toEqual(['b']);
  });

  it('makes a file of more bytes as they arrive', async () => {
    const dir = join(folder.path, 'large');
    const store = new FsBlobStore(dir);
    await store.check();
    const staged = await store.stage(Readable.from([Buffer.alloc(64 * 1024 + 1)]), { maxBytes: 1e6 });
    expect(await readdir(join(dir, 'staging'))).toHaveLength(1);
    await staged.discard();
    expect(await readdir(join(dir, 'staging'))).toEqual([]);
  });

  it('leaves no file of few bytes that could not be placed', async () => {
    const dir = join(folder.path, 'in-the-way');
    const store = new FsBlobStore(dir);
    await store.check();
    await writeFile(join(dir, 'blobs', 'a'), '');
    const staged = await store.stage(Readable.from([Buffer.from('x')]), { maxBytes: 1 });
    await expect(staged.place('a/b')).rejects.toMatchObject({ name: 'BlobStoreError' });
    expect(await readdir(join(dir, 'staging'))).toEqual([]);
  });

  it.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EROFS', 'denied'],
    ['ESTALE', 'unreachable'],
    ['EIO', 'failed'],
  ])('reports %s as %s', (code, fault) => {
    const error = Object.assign(new Error('write'), { code, syscall: 'write' });
    expect(fsFaultOf(error)).toMatchObject({ name: 'BlobStoreError', fault });
  });

  it('cannot be used where a file stands in its place', async () => {
    const path = join(folder.path, 'file');
    await writeFile(path, '');
    await expect(new FsBlobStore(path).check()).rejects.toMatchObject({
      name: 'BlobStoreError',
      message: `The blob folder ${path}/staging cannot be created, read or written (ENOTDIR); fix it or set another.`,
    });
  });
});

describe('a folder of parts', () => {
  const SIZE = 1_048_576;
  const part = { number: 1, sizeBytes: SIZE };
  /** The files that the parts of the store take. */
  const filesIn = async (dir: string): Promise<string[]> =>
    (await readdir(join(dir, 'staging', 'parts'), { recursive: true })).filter((name) => name.includes('/'));

  it('keeps one file of a part that is sent many times at once: the last transfer counts', async () => {
    const dir = join(folder.path, 'sent-again');
    const { parts } = new FsBlobStore(dir);
    const handle = await parts.begin();
    let finish: (rest: Buffer) => void = () => undefined;
    const last = new Promise<Buffer>((resolve) => (finish = resolve));
    // As a request's bytes come: it cannot be ended while it waits for them.
    async function* bytesOf(rest: Promise<Buffer>): AsyncGenerator<Buffer> {
      yield Buffer.alloc(SIZE - 1, 1);
      yield await rest;
    }
    const rests = Array.from({ length: 10 }, (_, at) => (at === 9 ? last : new Promise<Buffer>(() => undefined)));
    const writes = rests.map(async (rest) => {
      return parts.write(handle, part, Readable.from(bytesOf(rest))).then(
        () => 'written',
        (error: unknown) => error,
      );
    });
    for (const write of writes.slice(0, -1)) {
      expect(await write).toMatchObject({ code: 'invalid_request', status: 400 });
    }
    await eventually('the last is being written', async () => (await filesIn(dir)).length > 0);
    expect(await filesIn(dir)).toHaveLength(1);
    finish(Buffer.from([2]));
    expect(await writes.at(-1)).toBe('written');
    expect(await filesIn(dir)).toEqual([`${handle}/1`]);
  });

  it('keeps no more of a part in memory than is being written', async () => {
    const { parts } = new FsBlobStore(join(folder.path, 'large-part'));
    const [chunkBytes, chunks] = [1_048_576, 48];
    const kept = new Set<number>();
    const registry = new FinalizationRegistry<number>((at) => kept.delete(at));
    async function* bytes(): AsyncGenerator<Buffer> {
      for (let at = 0; at < chunks; at += 1) {
        const chunk = Buffer.alloc(chunkBytes);
        kept.add(at);
        registry.register(chunk, at);
        yield chunk;
      }
      await eventually('what was written to be let go', async () => {
        await collectGarbage();
        return kept.size < chunks / 2;
      });
    }
    await parts.write(await parts.begin(), { ...part, sizeBytes: chunkBytes * chunks }, Readable.from(bytes()));
  });

  it('leaves no folder of an upload that nothing came of', async () => {
    const dir = join(folder.path, 'begun');
    const store = new FsBlobStore(dir);
    const [used, old] = [await store.parts.begin(), await store.parts.begin()];
    await store.parts.write(used, part, Readable.from([Buffer.alloc(SIZE)]));
    const before = new Date(Date.now() - 60_000);
    for (const handle of [used, old]) await utimes(join(dir, 'staging', 'parts', handle), 0, 0);
    const young = await store.parts.begin();
    const dropped: string[] = [];
    for await (const leftover of store.stagedBefore(before)) {
      dropped.push(leftover.name);
      await leftover.drop();
      // Without effect when it is gone.
      await leftover.drop();
    }
    expect(dropped).toEqual([join(dir, 'staging', 'parts', old)]);
    expect((await readdir(join(dir, 'staging', 'parts'))).sort()).toEqual([used, young].sort());
  });

  it('writes a part again after its transfer broke off, and other parts beside it', async () => {
    const dir = join(folder.path, 'broke-off');
    const { parts } = new FsBlobStore(dir);
    const handle = await parts.begin();
    const broken = new PassThrough();
    const writing = parts.write(handle, part, broken);
    broken.write(Buffer.alloc(SIZE - 1));
    broken.destroy(new Error('the connection broke'));
    await expect(writing).rejects.toThrow('broke');
    const bytes = (): Readable => Readable.from([Buffer.alloc(SIZE)]);
    await Promise.all([parts.write(handle, part, bytes()), parts.write(handle, { ...part, number: 2 }, bytes())]);
    expect((await filesIn(dir)).sort()).toEqual([`${handle}/1`, `${handle}/2`]);
  });
});
