import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { describeBlobStore } from '../blob-store.conformance';
import { fsFaultOf } from './fs-fault';
import { FsBlobStore } from './fs.blob-store';
import { describePartStore } from '../part-store.conformance';

let folder: TestFolder;
beforeAll(async () => {
  folder = await createTestFolder();
});
afterAll(() => folder.drop());

describeBlobStore('a folder of blobs', async () => new FsBlobStore(folder.path));
describePartStore('a folder', async () => new FsBlobStore(join(folder.path, 'of-parts')));

describe('a folder of blobs', () => {
  it('needs no folders made before its first upload', async () => {
    const store = new FsBlobStore(join(folder.path, 'new'));
    await (await store.stage(Readable.from([Buffer.from('x')]), { maxBytes: 1 })).place('a/b/c');
    expect(await readdir(join(folder.path, 'new', 'blobs', 'a', 'b'))).toEqual(['c']);
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
