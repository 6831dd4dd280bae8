import { PassThrough, type Readable } from 'node:stream';
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

  it.each([
    [1_000, 5],
    [64 * 1_048_576, 10],
  ])(
    'gives a part of %i bytes up whose source sends a byte now and then, after %i minutes',
    async (sizeBytes, minutes) => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
      const [release, renew] = [jest.fn(() => Promise.resolve()), jest.fn(() => Promise.resolve(true))];
      const store = { claim: () => Promise.resolve(claim), release, renew } as unknown as ImportStore;
      const upload = { id: 'u', partBytes: sizeBytes, sizeBytes };
      const uploads = {
        get: () => Promise.resolve(upload),
        partsOf: () => Promise.resolve([{ number: 1, sizeBytes, received: false }]),
        receive: async (_account: string, _id: string, _number: number, body: Readable) => {
          for await (const _ of body);
        },
      } as unknown as Parts[3];
      let drip: NodeJS.Timeout | undefined;
      const origin = {
        read: (_url: string, _range: object, _etag: null, signal: AbortSignal) => {
          const body = new PassThrough();
          drip = setInterval(() => body.write('x'), 1_000);
          signal.addEventListener('abort', () => body.destroy(new Error('aborted')));
          return Promise.resolve({ totalBytes: sizeBytes, etag: null, body });
        },
        close: () => Promise.resolve(),
      } as unknown as Parts[2];
      const importer = new ModelImporter({} as Database, store, origin, uploads, {} as Parts[4], {} as Parts[5]);
      let outcome: string | null = 'none yet';
      const work = importer.work().then((came) => (outcome = came));
      await jest.advanceTimersByTimeAsync(minutes * 60_000 - 1_000);
      const outcomeBefore = outcome;
      await jest.advanceTimersByTimeAsync(1_000);
      clearInterval(drip);
      jest.useRealTimers();
      await new Promise((resolve) => setImmediate(resolve));
      expect([outcomeBefore, outcome]).toEqual(['none yet', 'failed']);
      await work;
      expect(release).toHaveBeenCalledWith(expect.anything(), claim, expect.any(Number), true);
      expect(followersOf((Reflect.get(importer, 'stopping') as AbortController).signal)).toBe(0);
      await importer.close();
    },
  );
});
