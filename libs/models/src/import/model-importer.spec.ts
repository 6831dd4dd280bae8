import type { Database } from '@millrace/database';
import { followersOf } from '@millrace/testing';
import { ModelImporter } from './model-importer';
import type { ImportStore } from './import.store';

type Parts = ConstructorParameters<typeof ModelImporter>;

const claim = { model: { accountId: 'a', uploadId: 'u', sourceUrl: 'https://example.com/a' }, etag: null, failures: 0 };

describe('the importer of models', () => {
  it('leaves nothing of an attempt on what cuts attempts off when the process stops', async () => {
    const release = jest.fn(() => Promise.resolve());
    const store = { claim: () => Promise.resolve(claim), release } as unknown as ImportStore;
    const uploads = { get: () => Promise.reject(new Error('away')) } as unknown as Parts[3];
    const origin = { close: () => Promise.resolve() } as unknown as Parts[2];
    const importer = new ModelImporter({} as Database, store, origin, uploads, {} as Parts[4], {} as Parts[5]);
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await importer.work()).toBe('failed');
    expect(release).toHaveBeenCalledTimes(3);
    expect(followersOf((Reflect.get(importer, 'stopping') as AbortController).signal)).toBe(0);
    await importer.close();
  });
});
